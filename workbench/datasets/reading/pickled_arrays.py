"""Dicts of lists, texts and byte arrays from a pickle file, by a reader that cannot execute what the file says."""

import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.files.unreadable import refusing

# The names in the published files of CIFAR; any other is refused.
RECONSTRUCT = ("numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct")
ARRAY, DTYPE, ENCODE = "numpy ndarray", "numpy dtype", "_codecs encode"
LITERALS = {
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "STRING", "BINSTRING", "SHORT_BINSTRING",
    "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
}  # fmt: skip
CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
MARK = object()
MOST_STEPS = 2_000_000  # of one file; CIFAR-100's largest has 300,000


class NotPlain(ValueError):  # noqa: N818 - the word its readers use
    """The file asks for more than plain values and byte arrays, or is damaged."""


class _Global(str):
    """A name that the file would import."""


class _Dtype:
    """The element type of an array that follows; only single bytes are read."""


class _Array:
    """An array whose content is still to come."""

    def __init__(self) -> None:
        self.values = np.zeros(0, np.uint8)


def read_pickled(data: bytes) -> Any:
    """The value that the pickle describes: None, numbers, texts, lists, tuples, dicts and uint8 arrays.

    Texts and bytes of Python 2 both come as text (Latin-1). Nothing is imported, called or built but those.

    Raises:
        NotPlain: anything else is in it, or it is damaged.
    """
    stack: list[Any] = []
    kept: dict[int, Any] = {}
    left = 3 * len(data)  # bytes that may be built: of texts, then of arrays; a file that repeats references needs more
    with refusing(NotPlain, NotPlain):
        for number, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if opcode.name == "STOP":
                return _plain(stack.pop(), {})
            if number == MOST_STEPS:
                raise NotPlain(f"it has more than {MOST_STEPS:,} steps")
            _step(opcode.name, argument, stack, kept)
            if opcode.name in ("REDUCE", "BUILD"):
                left -= _size(stack[-1])
                if left < 0:
                    raise NotPlain("it repeats itself")
    raise NotPlain("it is truncated")


def _size(built: Any) -> int:
    return len(built) if isinstance(built, bytes) else built.values.size if isinstance(built, _Array) else 0


def _step(name: str, argument: Any, stack: list[Any], kept: dict[int, Any]) -> None:
    if name in LITERALS:
        stack.append(argument)
    elif name in CONSTANTS:
        stack.append(CONSTANTS[name])
    elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
        kept[argument] = stack[-1]
    elif name == "MEMOIZE":
        kept[len(kept)] = stack[-1]
    elif name in ("BINGET", "LONG_BINGET", "GET"):
        stack.append(kept[argument])
    elif name == "GLOBAL":
        stack.append(_Global(argument))
    elif name == "STACK_GLOBAL":
        last = stack.pop()
        stack.append(_Global(f"{stack.pop()} {last}"))
    elif name in BUILDERS:
        BUILDERS[name](stack)
    elif name not in ("PROTO", "FRAME"):
        raise NotPlain(f"it uses {name}")


def _since_mark(stack: list[Any]) -> list[Any]:
    at = max(position for position, item in enumerate(stack) if item is MARK)
    items = stack[at + 1 :]
    del stack[at:]
    return items


def _tuple(length: int) -> Callable[[list[Any]], None]:
    def build(stack: list[Any]) -> None:
        items = tuple(stack[len(stack) - length :])
        del stack[len(stack) - length :]
        stack.append(items)

    return build


def _append(stack: list[Any]) -> None:
    value = stack.pop()
    stack[-1].append(value)


def _appends(stack: list[Any]) -> None:
    values = _since_mark(stack)
    stack[-1].extend(values)


def _set_item(stack: list[Any]) -> None:
    value, key = stack.pop(), stack.pop()
    stack[-1][_key(key)] = value


def _set_items(stack: list[Any]) -> None:
    values = _since_mark(stack)
    stack[-1].update(zip(map(_key, values[::2]), values[1::2], strict=True))


def _key(value: Any) -> Any:
    if not isinstance(value, str | bytes | int):
        raise NotPlain("it names a value by something that is not text")
    return _plain(value, {})


def _reduce(stack: list[Any]) -> None:
    arguments, named = stack.pop(), stack.pop()
    if not isinstance(named, _Global):
        raise NotPlain("it calls something that is not a name")
    if named in RECONSTRUCT and arguments[0] == ARRAY:
        stack.append(_Array())
    elif named == DTYPE and arguments[0] in ("u1", "|u1"):
        stack.append(_Dtype())
    elif named == ENCODE and arguments[1] == "latin1":
        stack.append(arguments[0].encode("latin1"))
    else:
        raise NotPlain(f"it asks for {named}")


def _build(stack: list[Any]) -> None:
    state = stack.pop()
    if isinstance(stack[-1], _Array):
        _, shape, dtype, fortran, content = state
        if not isinstance(dtype, _Dtype):
            raise NotPlain("it holds an array that is not of bytes")
        raw = content.encode("latin1") if isinstance(content, str) else content
        order = "F" if fortran else "C"
        stack[-1].values = np.frombuffer(raw, np.uint8).reshape(tuple(shape), order=order)  # type: ignore[call-overload]
    elif not isinstance(stack[-1], _Dtype):
        raise NotPlain("it fills an object that is not an array")


def _plain(value: Any, seen: dict[int, str]) -> Any:
    """Fill in arrays, decode bytes, refuse names; `seen` ends loops."""
    if isinstance(value, _Array):
        return value.values
    if isinstance(value, _Global | _Dtype) or value is MARK:
        raise NotPlain("it holds a name instead of a value")
    if isinstance(value, bytes):
        if id(value) not in seen:
            seen[id(value)] = value.decode("latin1")
        return seen[id(value)]
    if isinstance(value, list | tuple | dict) and value:
        if id(value) in seen:
            raise NotPlain("it repeats itself")
        seen[id(value)] = ""
    if isinstance(value, list | tuple):
        return type(value)(_plain(item, seen) for item in value)
    if isinstance(value, dict):
        return {key: _plain(item, seen) for key, item in value.items()}
    return value


BUILDERS: dict[str, Callable[[list[Any]], None]] = {
    "MARK": lambda stack: stack.append(MARK),
    "EMPTY_DICT": lambda stack: stack.append({}),
    "EMPTY_LIST": lambda stack: stack.append([]),
    "EMPTY_TUPLE": lambda stack: stack.append(()),
    "LIST": lambda stack: stack.append(_since_mark(stack)),
    "TUPLE": lambda stack: stack.append(tuple(_since_mark(stack))),
    "TUPLE1": _tuple(1),
    "TUPLE2": _tuple(2),
    "TUPLE3": _tuple(3),
    "APPEND": _append,
    "APPENDS": _appends,
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "REDUCE": _reduce,
    "BUILD": _build,
}
