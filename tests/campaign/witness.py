"""Stands in for strace: `python -m tests.campaign.witness FILE MODULE WORDS` writes what Python opens, in its words."""

import json
import os
import runpy
import sys
from typing import Any

CALLS = {
    "os.rename": "rename", "os.remove": "unlink", "os.mkdir": "mkdir", "os.rmdir": "rmdir", "os.link": "link",
    "os.symlink": "symlink", "os.truncate": "truncate", "os.chmod": "chmod", "socket.__new__": "socket",
    "socket.connect": "connect",
}  # fmt: skip


def main() -> None:
    """Listen to every event of the interpreter, then be the module."""
    out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    def tell(event: str, arguments: tuple[Any, ...]) -> None:
        paths = [json.dumps(os.fsdecode(each)) for each in arguments if isinstance(each, str | bytes | os.PathLike)]
        if event == "open":
            if paths and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                os.write(out, f"open({paths[0]}, O_WRONLY) = 0\n".encode())
        elif event.startswith("socket.") and event in CALLS:
            family = getattr(arguments[0], "family", arguments[1] if len(arguments) > 1 else "")
            os.write(out, f"{CALLS[event]}({getattr(family, 'name', family)}) = 0\n".encode())
        elif event in CALLS:
            os.write(out, f"{CALLS[event]}({', '.join(paths)}) = 0\n".encode())

    sys.addaudithook(tell)
    module, sys.argv = sys.argv[2], sys.argv[2:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
