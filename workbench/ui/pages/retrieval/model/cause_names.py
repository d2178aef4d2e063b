"""The causes of a failed query as the filter and the CSV file call them (TITLES), and in a word in the list (WORDS)."""

TITLES = {
    "copy": "Near-duplicate, other label",
    "label": "Suspected label error",
    "hub": "Hub of another class",
    "rare": "Rare class",
    "proxy": "Class vector of another class nearer",
    "none": "No cause found",
}
WORDS = {
    "copy": "copy",
    "label": "label?",
    "hub": "hub",
    "rare": "rare",
    "proxy": "near class",
    "none": "",
}  # in the list
TIPS = {
    "copy": "The nearest neighbour has another label, at no more than a tenth of the usual distance of neighbours",
    "label": "At least nine in ten of its nearest neighbours agree on another class",
    "hub": "The nearest neighbour is among the neighbours of very many samples, most of them of other classes",
    "rare": "Its class has at most a quarter as many samples as the median class",
    "proxy": "A class vector of another class is nearer than any of its own class",
    "none": "None of the other causes applies",
}
