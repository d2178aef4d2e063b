"""Neighbours and similarities of a query as one blob of int32 each: less time and room than JSON.

Plain SQL reads them through the view `neighbours`; evaluations stored before are JSON text in the same columns.
"""

import numpy as np

from workbench.workspace.database.columns import Unreadable, integers_of

NUMBER = np.dtype("<i4")

_BYTES = f"x'{bytes(range(256)).hex()}'"  # the position of a byte in it is the value of the byte


def _number(blob: str, position: str) -> str:
    """SQL for the signed number at a place, from 0, of a blob."""
    worth = [
        f"(instr({_BYTES}, substr({blob}, {NUMBER.itemsize} * {position} + {byte + 1}, 1)) - 1)"
        for byte in range(NUMBER.itemsize)
    ]
    value = " + ".join(f"({part} << {8 * byte})" for byte, part in enumerate(worth))
    return f"({value} - (({worth[-1]} >= 128) << 32))"


# As many elements as the blob has numbers: the only way to count that every build of SQLite has.
_RANKS = "json_each('[' || substr(replace(hex(zeroblob(length(q.neighbours) / 4)), '00', ',0'), 2) || ']')"

# Step m008 of the schema; a released step is never edited. "cross join" keeps the order: else all samples are scanned.
NEIGHBOURS_VIEW = f"""
create view neighbours as
  select q.evaluation_id, q.sample_id as query_id, n.key + 1 as rank, s.id as sample_id, s.label as label,
    {_number("q.similarities", "n.key")} / 10000.0 as similarity
  from queries q join evaluations e on e.id = q.evaluation_id join runs r on r.id = e.run_id,
    {_RANKS} n
  cross join samples s on s.dataset_id = r.dataset_id and s."row" = {_number("q.neighbours", "n.key")}
  where typeof(q.neighbours) = 'blob'
  union all
  select q.evaluation_id, q.sample_id, n.key + 1, s.id, s.label, v.value / 10000.0
  from queries q join evaluations e on e.id = q.evaluation_id join runs r on r.id = e.run_id,
    json_each(q.neighbours) n, json_each(q.similarities) v
  join samples s on s.dataset_id = r.dataset_id and s."row" = n.value
  where typeof(q.neighbours) = 'text' and v.key = n.key"""


def packed(numbers: np.ndarray) -> list[bytes]:
    """One blob for each row of [n, k] whole numbers that fit into int32."""
    whole, width = np.ascontiguousarray(numbers, NUMBER).tobytes(), NUMBER.itemsize * numbers.shape[1]
    return [whole[at : at + width] for at in range(0, width * len(numbers), width)] if width else [b""] * len(numbers)


def unpacked(stored: bytes | str) -> list[int]:
    """The numbers in a cell of the columns `neighbours` or `similarities`. Raises ValueError for anything else."""
    if isinstance(stored, str):
        return list(integers_of(stored))
    if not isinstance(stored, bytes):
        raise Unreadable("it is neither a blob nor JSON")
    numbers: list[int] = np.frombuffer(stored, NUMBER).tolist()
    return numbers


def numbers_of(text: str | None, dtype: type) -> np.ndarray:
    """The numbers [n] of a column in SQLite's group_concat, parsed without an object for each."""
    return np.fromstring(text or "", dtype, sep=",")
