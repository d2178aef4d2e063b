"""Stands for the analysis process in tests of the map."""

from functools import partial

from workbench.workspace.measured.stored_maps import Measured, store_map


class Analysis:
    """Keeps requests until the test answers them."""

    def __init__(self):
        self.requests = []  # (op, fields, on_progress, on_result, on_error)
        self.cancelled = []  # numbers of requests, from 0

    def request(self, op, fields, on_progress, on_result, on_error, owner=None):
        self.requests.append((op, fields, on_progress, on_result, on_error))
        handle = type("Handle", (), {})()
        handle.cancel = partial(self.cancelled.append, len(self.requests) - 1)
        return handle

    def close(self):
        pass

    def answer(self, workspace, points, proxies=None, place=-1):
        """Store `points` as the map that was asked for, and say so."""
        _, fields, _, on_result, _ = self.requests[place]
        evaluation, method, params, seed = (fields[name] for name in ("evaluation", "method", "params", "seed"))
        number = store_map(workspace, evaluation, method, params, seed, points, proxies, {}, Measured(0.9321))
        on_result({"projection": number})
