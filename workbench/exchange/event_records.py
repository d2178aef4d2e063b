"""TFRecord frames, as TensorBoard's event files have them: a length, the data, and a checksum of each."""

import struct

POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), reflected
MASK_DELTA = 0xA282EAD8  # TFRecord's masking of checksums
HEAD, FOOT = 12, 4  # bytes of a frame before and after its data


def _remainders() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


TABLE = _remainders()


def crc32c(data: bytes) -> int:
    """CRC-32C of `data`, 0 to 2^32 - 1."""
    crc, table = 0xFFFFFFFF, TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """A checksum as TFRecord stores it: turned right by 15 bits, plus a constant."""
    return ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """One TFRecord: length, its checksum, the data, its checksum; little-endian."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(crc32c(length))) + data + struct.pack("<I", masked(crc32c(data)))


def length_of(head: bytes) -> int | None:
    """The bytes of data that the first HEAD bytes of a frame announce; None if their checksum is wrong."""
    length, checksum = struct.unpack("<QI", head)
    return int(length) if masked(crc32c(head[:8])) == checksum else None


def is_whole(data: bytes, foot: bytes) -> bool:
    """Whether the last FOOT bytes of a frame are the checksum of its data."""
    return struct.pack("<I", masked(crc32c(data))) == foot
