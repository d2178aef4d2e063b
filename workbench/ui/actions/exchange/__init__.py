"""What a person takes out of Workbench and brings into it: runs, embeddings, curves and checkpoints."""
