"""Stands for the process that draws reports: what it is asked is done by a thread of this one."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from workbench.jobs import serving
from workbench.reports.server import OPS


class DrawnHere:
    """To start a process for each test takes a second or more, most of it for importing matplotlib."""

    def __init__(self, on_answer):
        self._on_answer = on_answer
        self._numbers, self._cancelled = count(1), set()
        self._thread = ThreadPoolExecutor(1)

    def withdrawn(self, number):
        return number in self._cancelled

    def request(self, op, **fields):
        number = next(self._numbers)
        line = json.dumps({"id": number, "op": op, **fields}).encode()
        self._thread.submit(serving.answer, line, OPS, self, self._on_answer)
        return number

    def cancel(self, number):
        self._cancelled.add(number)

    def end(self):
        self.close()

    def close(self):
        self._thread.shutdown(cancel_futures=True)
