"""TensorBoard event files, read back by a reader of the test's own that shares nothing with the writer."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.events import Ended, Scalar
from workbench.exchange.event_records import crc32c, record
from workbench.exchange.exported import tensorboard
from workbench.exchange.formats import export_run
from workbench.workspace.recorder import Recorder


def slow_crc32c(data: bytes) -> int:
    """Bit by bit, as the polynomial is defined."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_a_step_below_zero_is_written_as_protobuf_has_it():
    """Only damage makes one: ten bytes of two's complement, as protobuf encodes an int64."""
    assert bytes([2 << 3]) + b"\xfb" + 8 * b"\xff" + b"\x01" in tensorboard.scalar_event("loss", -5, 1.0, 0.0)


def frames(data: bytes) -> list[bytes]:
    """The records of a TFRecord file; both checksums of each must fit."""
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + length]
        for part, place in ((data[at : at + 8], at + 8), (body, at + 12 + length)):
            crc = slow_crc32c(part)
            turned = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
            assert struct.unpack_from("<I", data, place)[0] == (turned + 0xA282EAD8) % 2**32
        found.append(body)
        at += 16 + length
    return found


def fields(message: bytes) -> dict[int, list]:
    """A protobuf message as field number -> values: whole numbers, or raw bytes."""
    found: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            value = varint()
        else:
            length = {1: 8, 5: 4}.get(wire) or varint()
            value = message[at : at + length]
            at += length
        found.setdefault(number, []).append(value)
    return found


def scalar(event: bytes) -> tuple[str, int, float, float]:
    """Tag, step, value and time of an event with one simple value."""
    whole = fields(event)
    point = fields(fields(whole[5][0])[1][0])
    return (
        point[1][0].decode(), whole.get(2, [0])[0], struct.unpack("<f", point[2][0])[0],
        struct.unpack("<d", whole[1][0])[0],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(reversed(range(32))), 0x113FDB5C),
        (b"", 0),
    ],
)
def test_the_checksum_is_that_of_rfc_3720(data, crc):
    assert crc32c(data) == crc


@given(st.binary(max_size=80))
def test_a_record_can_be_taken_apart_again(data):
    assert slow_crc32c(data) == crc32c(data)
    assert frames(record(data) * 2) == [data, data]


@given(st.text(max_size=30), st.integers(0, 2**62), st.floats(width=32), st.floats(0, 1e11))
def test_an_event_keeps_its_point(tag, step, value, seconds):
    named, at, stored, time = scalar(tensorboard.scalar_event(tag, step, value, seconds))
    assert (named, at, time) == (tag, step, seconds)
    assert stored == value or (math.isnan(stored) and math.isnan(value))


def test_a_run_is_one_event_file_by_rising_step(workspace, stored_run, tmp_path):
    [path] = export_run(workspace, stored_run, ["tensorboard"], tmp_path / "out")
    assert ".tfevents." in path.name, "TensorBoard looks for this"
    first, *events = frames(path.read_bytes())
    assert fields(first)[3] == [b"brain.Event:2"]
    points = [scalar(event)[:3] for event in events]
    assert [step for _, step, _ in points] == sorted(step for _, step, _ in points)
    by_name = {name: [(step, value) for each, step, value in points if each == name] for name, _, _ in points}
    assert by_name["=batch"] == [(2, 1.0)]
    assert [step for step, _ in by_name["probe/spce"]] == [1, 2, 300]
    np.testing.assert_array_equal([value for _, value in by_name["probe/spce"]], [2.5, np.nan, -0.125])


def test_points_too_large_for_float32_are_left_out_and_named(workspace, stored_run, tmp_path):
    recorder, remarks = Recorder(workspace, stored_run), []
    for step, value in ((1, 1e39), (2, -1e39), (3, 3.4e38), (4, math.inf)):
        recorder(Scalar("batch/loss", step, value))
    recorder(Ended("done"))
    [path] = export_run(workspace, stored_run, ["tensorboard"], tmp_path / "out", remark=remarks.append)
    points = [scalar(event)[:3] for event in frames(path.read_bytes())[1:]]
    assert [step for name, step, _ in points if name == "batch/loss"] == [3, 4]
    assert [value for name, _, value in points if name == "batch/loss"][1] == math.inf
    [remark] = remarks
    assert remark.endswith("beyond 3.4×10³⁸: batch/loss (2).")
