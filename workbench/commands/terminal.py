"""A run as one moving line of the terminal; where nothing moves, as one line per evaluation, and now and then one."""

import codecs
import contextlib
import io
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from math import nan
from time import monotonic
from typing import Any

import click

from workbench.events import Ended, Evaluated, Event, Noted, Progress, Remarked, Scalar, Status, Waiting
from workbench.numerals import finite, percentage
from workbench.progress import Progress as Tell
from workbench.progress import duration
from workbench.workspace.rows import Run

WIDTH = 24  # characters of the bar
INTERRUPTED = 130  # exit status after Ctrl+C
EVERY = 0.2  # seconds
SILENT = 30.0  # seconds without a line in a file or pipe, after which the next progress is one
SPELT_OUT = "workbench.spelt_out"  # the name of the error handler
IN_ASCII = {
    "−": "-", "–": "-", "—": "-", "≥": ">=", "≤": "<=", "≠": "!=", "≈": "~", "×": "x", "±": "+-", "→": "->",
    "↑": "(up)", "↓": "(down)", "…": "...", "“": '"', "”": '"', "‘": "'", "’": "'", "′": "'", "‖": "||", "·": "*",
    "★": "*", "█": "#", "░": ".", "²": "^2", "³": "^3", "⁻": "^-", "⁺": "^+", "₁": "_1", "₂": "_2", "√": "sqrt",
    "∞": "inf", "Σ": "Sum", "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "η": "eta",
    "θ": "theta", "λ": "lambda", "ρ": "rho", "σ": "sigma", "τ": "tau", "°": " deg", "\u2009": " ", "\u202f": " ",
    "\xa0": " ",
}  # fmt: skip


def spell_out() -> None:
    """Have the output lose nothing where it has a small character set, as a file or a pipe has on Windows.

    Signs of the program are written in ASCII, such as ">=", and letters of other names as their numbers ("\\u732b").
    """
    codecs.register_error(SPELT_OUT, _spelt_out)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SPELT_OUT)


def _spelt_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(IN_ASCII.get(letter) or ascii(letter)[1:-1] for letter in letters), error.end


def printable(text: str) -> str:
    """Text without letters that steer a terminal, which names of files and runs may hold: each becomes a blank."""
    return "\n".join(one_line(line) for line in text.split("\n"))


def one_line(text: str) -> str:
    """As `printable`, and a name that has lines of its own stays in the line that it is in."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def show_lines(lines: Iterable[str], none: str) -> None:
    """Lines on standard output; without any, the sentence `none` on the error output, which no script reads."""
    empty = True
    for line in lines:
        empty = False
        click.echo(line)
    if empty:
        click.echo(none, err=True)


def show_json(data: Any) -> None:
    """Plain data on standard output as JSON, which has no number that is not finite: null stands for it."""
    click.echo(json.dumps(finite(data), indent=2))


class ProgressLine:
    """Call it with events, from any one thread. Once nobody reads them, as after `| head`, lines are dropped.

    Where JSON is printed (`as_json`), the last line is on the error output, too.
    """

    def __init__(self, epochs: int, *, quiet: bool = False, as_json: bool = False) -> None:
        self._epochs, self._quiet, self._as_json = epochs, quiet, as_json
        self._moving = sys.stderr.isatty()
        self._every = EVERY if self._moving else SILENT
        self._drawn = 0.0 if self._moving else monotonic()
        self._loss: float | None = None  # of a run that is followed nothing tells it

    def __call__(self, event: Event) -> None:
        match event:
            case Scalar("batch/loss", _, value):
                self._loss = value
            case Progress() if self._is_due():
                self._draw(event)
            case Status(text, done, total) if self._is_due():
                self._put(text if not total else f"{text} {done:,} of {total:,}")
            case Evaluated(epoch=epoch, metrics=metrics):
                loss = self._loss_in_words()
                recall, score = (percentage(metrics[name], 2) for name in ("recall@1", "MAP@R"))
                self.say(
                    f"Epoch {epoch} / {self._epochs}   R@1 {recall}   MAP@R {score}"
                    + _levels(metrics)
                    + ("   (untrained)" if epoch == 0 else f"   {loss}".rstrip())
                )
            case Noted(text) | Remarked(text) if text and self._quiet:  # the result may be another than was asked for
                self._write(f"{printable(text)}\n")
            case Waiting(text) | Noted(text) | Remarked(text) if text:
                self.say(text)
            case Ended():
                self._clear()

    def say(self, text: str) -> None:
        """A line that stays."""
        if not self._quiet:
            self._clear()
            self._write(f"{printable(text)}\n")
            self._drawn = 0.0 if self._moving else monotonic()

    def finish(self, text: str) -> None:
        """The last line, on standard output."""
        if self._as_json:
            self.say(text)
            return
        self._clear()
        with contextlib.suppress(OSError):  # nobody reads it any more
            sys.stdout.write(f"{printable(text)}\n")
            sys.stdout.flush()

    def _is_due(self) -> bool:
        """Whether progress is to be written now: it is neither too early nor unwanted."""
        if self._quiet or monotonic() - self._drawn < self._every:
            return False
        self._drawn = monotonic()
        return True

    def _draw(self, progress: Progress) -> None:
        share = progress.done / max(1, progress.total)
        bar = f"{'█' * round(share * WIDTH):░<{WIDTH}} " if self._moving else ""
        step, pace = f"step {progress.done} / {progress.total}", f"{progress.images_per_second:,.0f} img/s"
        left = f"{duration(progress.seconds_left)} left"
        parts = (f"{bar}{percentage(share, 0):>4}", step, self._loss_in_words(), pace, left)
        self._put("  ".join(filter(None, parts)))

    def _loss_in_words(self) -> str:
        return "" if self._loss is None else f"loss {self._loss:.4f}"

    def _put(self, text: str) -> None:
        """The moving line, or one that stays where nothing moves."""
        if self._moving:
            self._write(f"\r\x1b[2K{one_line(text[:118])}")
        else:
            self.say(text.lstrip())

    def _clear(self) -> None:
        if self._moving and not self._quiet:
            self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        """Training goes on where the terminal is gone."""
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            self._quiet = True


def say_while_read(text: str) -> None:
    """A line of the error output on work that goes on, also once nobody reads it, as after `| head`."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


@contextlib.contextmanager
def told() -> Iterator[Tell]:
    """A Progress for the block, drawn as one moving line of the terminal, or now and then as a line of a file."""
    line = ProgressLine(1)
    try:
        yield lambda text, done, total: line(Status(text, done, total))
    finally:
        line(Ended("done"))


def best_in_words(run: Run) -> str:
    """As `scores_in_words`, of a run's best epoch."""
    return scores_in_words(run.best, run.best_epoch)


def scores_in_words(best: Mapping[str, float], epoch: int) -> str:
    """The scores of the best epoch, and on which images it was chosen: on the test set they are optimistic."""
    if not best:
        return ""
    held_out = "validation/MAP@R" in best
    chosen = ", chosen on held-out images" if held_out else "; optimistic, as it was chosen on the test set"
    return f"Best {percent(best, 'MAP@R')}, {percent(best, 'recall@1')} at epoch {epoch}{chosen}."


def percent(metrics: Mapping[str, float], metric: str) -> str:
    """One of the scores of an epoch, such as `R@1 97.20%`; a dash when it is not among them."""
    return f"{'R@1' if metric == 'recall@1' else metric} {percentage(metrics.get(metric, nan), 2)}"


def _levels(metrics: dict[str, float]) -> str:
    """MAP@R by wider labels, as `   genus MAP@R 81.20%` for each."""
    names = sorted(name for name in metrics if name.startswith("level/") and name.endswith("/MAP@R"))
    return "".join(f"   {name.split('/', 1)[1].replace('/', ' ')} {percentage(metrics[name], 2)}" for name in names)
