"""The one place that starts threads and processes."""

from workbench.jobs.processes import (
    AnalysisProcess,
    Answer,
    RankProcesses,
    ToldProcess,
    printed_by,
    serve_rank,
    start_detached,
)
from workbench.jobs.threads import Job, Work, cores, in_threads, meanwhile, repeating, start_daemon

__all__ = [
    "AnalysisProcess",
    "Answer",
    "Job",
    "RankProcesses",
    "ToldProcess",
    "Work",
    "cores",
    "in_threads",
    "meanwhile",
    "printed_by",
    "repeating",
    "serve_rank",
    "start_daemon",
    "start_detached",
]
