"""Classes suggested for images without labels, by the network of a run and the labelled images of an evaluation."""
