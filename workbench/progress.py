"""How far work is, and how long it takes: one callable and one wording for the whole package."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]  # (text, done, total); raises Cancelled once the result is not wanted


def quiet(text: str, done: int, total: int) -> None:
    """A Progress that reports nothing."""


def duration(seconds: float, space: str = " ") -> str:
    """Seconds in words of two units at most, as "2 min 10 s", "under 1 s"; `space` separates a number from its unit."""
    if 0 < seconds < 1:
        return f"under 1{space}s"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}{space}s"
    if whole < 3600:
        return f"{whole // 60}{space}min {whole % 60}{space}s"
    return f"{whole // 3600}{space}h {whole % 3600 // 60}{space}min"


def short_time(seconds: float, space: str = " ") -> str:
    """0.0123 as "12.3 ms", 14.31 as "14.3 s", 130 as "2 min 10 s": three digits, below 1 ms two decimals at most."""
    if seconds >= 60:
        return duration(seconds, space)
    if seconds >= 0.9995:
        return f"{seconds:.3g}{space}s"
    milliseconds = 1000 * seconds
    if 0 < milliseconds < 0.01:
        return f"under 0.01{space}ms"
    return f"{milliseconds:.3g}{space}ms" if milliseconds >= 1 else f"{round(milliseconds, 2):g}{space}ms"
