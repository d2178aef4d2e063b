"""The sections and the file formats of reports."""

FORMATS = ("html", "pdf", "latex", "csv", "figures")
BUNDLE = "bundle"  # all of them in one ZIP file
PAPERS = {"a4": "a4", "letter": "us-letter"}  # sizes of the PDF's pages, by typst's names
PAPER = "a4"
METRIC = "MAP@R"  # what a comparison is about
RUN_SECTIONS = {  # of one run: the first that is reported
    "summary": "Summary",
    "metrics": "Retrieval metrics",
    "map": "Embedding map",
    "curves": "Curves",
    "queries": "Best and worst queries",
    "classes": "Per class",
    "published": "Published results",
    "deployment": "Deployment",
    "robustness": "Robustness",
    "settings": "Settings",
    "environment": "Environment",
}
GROUP_SECTIONS = {  # of all reported runs, in groups over seeds
    "guards": "Is it fair?",
    "groups": "Results over seeds",
    "group-curves": "Curves over seeds",
    "differences": "Differences",
    "similarity": "Similarity of embeddings",
    "fair": "Fair ranking",
    "changed-settings": "Settings that differ",
    "importance": "Parameter importance",
    "all-settings": "All settings",
    "group-published": "Beside the papers",
    "runs": "Runs",
    "provenance": "How to repeat",
}
SECTIONS = {"notes": "Notes", **RUN_SECTIONS, **GROUP_SECTIONS}
ONE_RUN = ("notes", *RUN_SECTIONS)
