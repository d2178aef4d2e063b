"""How the search space of a loss is written: what `workbench benchmark fair` tunes, and the source of its values.

In `search` a plain name is a parameter of the loss and a dotted one another field of the run, as in published.py. Every
range or list of values contains the default, because that is the first setting that is tried.
"""

from workbench.entries.facts import Searched

MLRC = "Musgrave et al. 2020 (A metric learning reality check), supplement: about the best values of its searches"
AROUND = "The reproduced papers have no range: around the default"


def between(low: float, high: float, source: str, *, log: bool = False) -> Searched:
    """A range, both ends included, on a log scale with `log`; integers if the parameter is one."""
    return Searched(source=source, low=float(low), high=float(high), log=log)


def one_of(*values: bool | int | float | str, source: str) -> Searched:
    """A few values without an order."""
    return Searched(source=source, values=values)


NETWORK_RATE = {
    "training.lr": between(1e-4, 1e-2, "The same for every loss: a tenth to ten times of the default", log=True)
}
PROXY_RATE = {
    "proxy_lr": between(1, 100, "The network's own rate, to Gürbüz et al. 2023 (CCP), supplement 2.1", log=True)
}
