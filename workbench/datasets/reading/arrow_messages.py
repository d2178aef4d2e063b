"""What the messages of an Arrow file say of themselves, read before any of them is unpacked."""

import struct
from typing import Any

BATCH, DICTIONARY = "record batch", "dictionary"  # pyarrow's words for the messages that have data
HEADER = 2  # field of a Message: what it holds
DATA = 1  # field of a DictionaryBatch: its RecordBatch
COMPRESSION = 3  # field of a RecordBatch


def is_packed(message: Any) -> bool:
    """Whether the data of a message (pyarrow.ipc.Message) are compressed, by its metadata.

    Read by hand, because pyarrow tells it of no message and unpacks all of one at once: 64 kB may become 2 GB. Layout:
    FlatBuffers, and format/Message.fbs of Arrow.

    Raises:
        struct.error: the metadata are damaged.
    """
    if message.type not in (BATCH, DICTIONARY):
        return False
    metadata = message.metadata.to_pybytes()
    (root,) = struct.unpack_from("<I", metadata, 0)
    table = _table(metadata, root, HEADER)
    if message.type == DICTIONARY:
        table = _table(metadata, table, DATA)
    return _place(metadata, table, COMPRESSION) is not None


def _table(metadata: bytes, table: int, field: int) -> int:
    """Where the table begins that a field of another one holds."""
    place = _place(metadata, table, field)
    if place is None:
        raise struct.error("a message holds nothing")
    (offset,) = struct.unpack_from("<I", metadata, place)
    return int(place + offset)


def _place(metadata: bytes, table: int, field: int) -> int | None:
    """Where a field of a table is stored; None where the table has none of that number."""
    (back,) = struct.unpack_from("<i", metadata, table)
    names = table - back
    if names < 0:
        raise struct.error("a table begins before its message")
    (size,) = struct.unpack_from("<H", metadata, names)
    at = 4 + 2 * field
    if at >= size:
        return None
    (offset,) = struct.unpack_from("<H", metadata, names + at)
    return int(table + offset) if offset else None
