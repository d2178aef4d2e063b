"""The one place that starts threads and processes."""

from workbench.jobs.processes import AnalysisProcess, Answer, ToldProcess, printed_by, start_detached
from workbench.jobs.threads import Job, Work, cores, in_threads, meanwhile, repeating, start_daemon

__all__ = [
    "AnalysisProcess",
    "Answer",
    "Job",
    "ToldProcess",
    "Work",
    "cores",
    "in_threads",
    "meanwhile",
    "printed_by",
    "repeating",
    "start_daemon",
    "start_detached",
]
