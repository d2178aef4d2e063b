"""Curves as a TensorBoard event file: TFRecord frames around hand-encoded Event messages."""

import struct
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from workbench.exchange.event_records import record
from workbench.exchange.exported.written import written_file
from workbench.exchange.source import Source
from workbench.names import visible_name
from workbench.progress import Progress
from workbench.workspace.paths import inside

VERSION = b"brain.Event:2"
TELL_EVERY = 2000  # points
MOST_NAMED = 3  # curves in a remark
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # protobuf's wire types


def scalar_event(tag: str, step: int, value: float, wall_time: float) -> bytes:
    """An Event message with one simple value.

    Args:
        tag: the curve's name.
        step: at least 0.
        value: stored as float32; NaN and infinities are data.
        wall_time: seconds since 1970.

    Raises:
        OverflowError: a number that is too large for float32.
    """
    point = _field(1, BYTES, tag.encode()) + _field(2, FIXED32, struct.pack("<f", value))
    summary = _field(1, BYTES, point)
    return _event(wall_time, step) + _field(5, BYTES, summary)


def write(source: Source, out: Path, progress: Progress) -> list[Path]:
    """`tensorboard/events.out.tfevents...` in `out`: every curve of the run, by step.

    The workspace keeps no time of single points: all carry the time at which the run was made. Points beyond float32
    are left out, and a remark says how many: as infinite ones they would be taken for a failed run.
    """
    run = source.run
    created = datetime.fromisoformat(run.created).timestamp()
    folder = inside(out, "tensorboard")
    path = folder / f"events.out.tfevents.{created:.0f}.run-{run.id}"
    points, left_out = list(_points(source)), Counter[str]()
    source.workspace.check_there(run.id)
    with written_file(source, path) as file:
        file.write(record(_event(created, 0) + _field(3, BYTES, VERSION)))
        for done, (step, name, value) in enumerate(sorted(points, key=lambda point: point[0])):
            if done % TELL_EVERY == 0:
                progress("Writing the event file", done, len(points))
            try:
                event = scalar_event(name, step, value, created)
            except OverflowError:
                left_out[name] += 1
            else:
                file.write(record(event))
    if left_out:
        curves = ", ".join(f"{visible_name(name)} ({count:,})" for name, count in left_out.most_common(MOST_NAMED))
        more = f" and {len(left_out) - MOST_NAMED:,} more" if len(left_out) > MOST_NAMED else ""
        what = f"Points that are not in the TensorBoard file, as it holds no numbers beyond 3.4×10³⁸: {curves}{more}."
        source.remarks.append(what)
    return [path]


def _points(source: Source) -> Iterator[tuple[int, str, float]]:
    for name in source.workspace.scalar_names(source.run.id):
        steps, values = source.workspace.scalars(source.run.id, name)
        for step, value in zip(steps.tolist(), values.tolist(), strict=True):
            yield step, name, value


def _event(wall_time: float, step: int) -> bytes:
    return _field(1, FIXED64, struct.pack("<d", wall_time)) + _field(2, VARINT, _varint(step))


def _field(number: int, wire_type: int, content: bytes) -> bytes:
    length = _varint(len(content)) if wire_type == BYTES else b""
    return _varint(number << 3 | wire_type) + length + content


def _varint(value: int) -> bytes:
    """A whole number of 64 bits in groups of seven, the lowest first; one below 0 as protobuf's int64 has it."""
    encoded = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
