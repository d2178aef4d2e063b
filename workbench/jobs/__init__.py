"""The one place that starts threads and processes."""

from workbench.jobs.processes import (
    AnalysisProcess,
    Answer,
    RankProcesses,
    ToldProcess,
    call_tool,
    printed_by,
    serve_rank,
    start_detached,
)
from workbench.jobs.threads import (
    Job,
    Work,
    cores,
    in_threads,
    let_the_window_go_first,
    meanwhile,
    repeating,
    start_daemon,
)

__all__ = [
    "AnalysisProcess",
    "Answer",
    "Job",
    "RankProcesses",
    "ToldProcess",
    "Work",
    "call_tool",
    "cores",
    "in_threads",
    "let_the_window_go_first",
    "meanwhile",
    "printed_by",
    "repeating",
    "serve_rank",
    "start_daemon",
    "start_detached",
]
