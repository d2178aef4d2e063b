"""The only room that starts threads and processes."""

from workbench.jobs.byte_process import BytePool, ByteProcess, Request, serve_bytes
from workbench.jobs.imports import given_up_by
from workbench.jobs.interpreter import collect_rarely, command_line, python
from workbench.jobs.processes import (
    AnalysisProcess,
    Answer,
    RankProcesses,
    ToldProcess,
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
    read_ahead,
    repeating,
    start_daemon,
)
from workbench.jobs.tools import Done, call_tool, run_tool

__all__ = [
    "AnalysisProcess",
    "Answer",
    "BytePool",
    "ByteProcess",
    "Done",
    "Job",
    "RankProcesses",
    "Request",
    "ToldProcess",
    "Work",
    "call_tool",
    "collect_rarely",
    "command_line",
    "cores",
    "given_up_by",
    "in_threads",
    "let_the_window_go_first",
    "meanwhile",
    "printed_by",
    "python",
    "read_ahead",
    "repeating",
    "run_tool",
    "serve_bytes",
    "serve_rank",
    "start_daemon",
    "start_detached",
]
