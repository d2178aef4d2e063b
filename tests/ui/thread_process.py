"""Stands for jobs.AnalysisProcess: what the window asks of a process is done by a thread of the test's own."""

import json
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import count

from workbench.jobs import serving


class ThreadProcess:
    """To start a process takes a second or more, most of it for its imports. Takes what AnalysisProcess takes."""

    def __init__(self, on_answer, module="workbench.projection.server"):
        self._on_answer, self._module = on_answer, module
        self._numbers, self._cancelled = count(1), set()
        self._closed = False
        self._thread = ThreadPoolExecutor(1)

    def withdrawn(self, number):
        if self._closed:
            raise serving.InputClosed
        return number in self._cancelled

    def request(self, op, **fields):
        number = next(self._numbers)
        line = json.dumps({"id": number, "op": op, **fields}).encode()
        self._thread.submit(self._answer, line)
        return number

    def _answer(self, line):
        serving.answer(line, import_module(self._module).OPS, self, self._on_answer)

    def cancel(self, number):
        self._cancelled.add(number)

    def end(self):
        self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def close(self):
        self.end()
        self._thread.shutdown()
