"""The pages, in their order, and what is known of each before it is loaded."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageInfo:
    """What is known of a page before it is loaded."""

    name: str  # as in Session.show_page
    title: str
    icon: str
    module: str
    kind: str  # the class in that module; takes the session and the parent
    in_parts: bool = False  # whether it takes `in_parts`, too
    of_evaluation: bool = True  # whether it shows the evaluation that is chosen in the header


PAGES = (
    PageInfo("setup", "Set up", "sliders", "workbench.ui.pages.setup", "SetupPage", of_evaluation=False),
    PageInfo("train", "Train", "chart-line", "workbench.ui.pages.train", "TrainPage", in_parts=True),
    PageInfo("map", "Map", "map-trifold", "workbench.ui.pages.map", "MapPage", in_parts=True),
    PageInfo("retrieval", "Retrieval", "squares-four", "workbench.ui.pages.retrieval", "RetrievalPage", in_parts=True),
    PageInfo(
        "compare", "Compare", "scales", "workbench.ui.pages.compare", "ComparePage", in_parts=True, of_evaluation=False
    ),
    PageInfo("report", "Report", "file-text", "workbench.ui.pages.report", "ReportPage"),
)
