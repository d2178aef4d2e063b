"""Why `ssh` did not connect, from the messages of OpenSSH, and what the user can do about it."""

import re

from workbench.places.host.host_files import last_line

# Messages that only follow from another one above them, such as that of a jump host.
FOLLOWS = ("kex_exchange_identification:", "Connection closed by", "stdio forwarding failed", "banner exchange:")
CHANGED = re.compile(r"^Host key for .{1,300} has changed", re.MULTILINE)
UNKNOWN = re.compile(r"^Host key verification failed", re.MULTILINE)
REFUSED = re.compile(r"^\S+: Permission denied \([a-z, -]+\)", re.MULTILINE)
NO_NAME = re.compile(r"^ssh: Could not resolve hostname", re.MULTILINE)
NO_SERVER = re.compile(r"^ssh: connect to host .*: Connection refused", re.MULTILINE)
NO_WAY = re.compile(
    r"^ssh: connect to host .*: (Connection timed out|Operation timed out|No route|Network is unreach)", re.M
)


def is_of_proxy(errors: str) -> bool:
    """Whether `ssh` printed no reason but that its jump host, or other proxy, closed the connection."""
    lines = [line for line in errors.splitlines() if line.strip()]
    return bool(lines) and "UNKNOWN port" in lines[-1] and all(line.startswith(FOLLOWS) for line in lines)


def in_words(errors: str, command: str) -> tuple[str, str]:
    """Why there is no connection, as the end of a sentence without its full stop, and what to do; "" if not known.

    Args:
        errors: what `ssh` printed; lines of other programs among them are only quoted.
        command: with which the user connects in a terminal.
    """
    if not errors.strip():
        return "the connection was lost", ""
    said = last_line("\n".join(line for line in errors.splitlines() if not line.startswith(FOLLOWS)) or errors)
    if CHANGED.search(errors):
        return (
            "its host key has changed: this may be another machine than before",
            f"If its administrator confirms the new key, remove the old one: `{command}` prints the command for it.",
        )
    if UNKNOWN.search(errors):
        return (
            "its host key is not known to this machine",
            f"Connect once in a terminal and confirm the key: `{command}`",
        )
    if REFUSED.search(errors):
        return f"none of your keys was accepted ({said})", (
            f"Check the user and the key: `{command}` must log in without a question, by a key file or an agent."
        )
    if NO_NAME.search(errors):
        return said, "Check the host in the fields of the place, and HostName and ProxyJump in your SSH config."
    if NO_SERVER.search(errors):
        return said, "Check the port in your SSH config, and whether an SSH server runs there."
    if NO_WAY.search(errors):
        return said, "Check that it is switched on, and that your network reaches it."
    return said, ""
