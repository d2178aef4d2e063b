"""What a report can be made of, and as what."""

FORMATS = ("html", "pdf", "latex", "csv", "figures")
SECTIONS = {
    "summary": "Summary",
    "settings": "Settings",
    "curves": "Curves",
    "metrics": "Retrieval metrics",
    "classes": "Per class",
    "published": "Published results",
    "map": "Embedding map",
    "queries": "Best and worst queries",
    "environment": "Environment",
}
