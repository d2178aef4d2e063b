"""The rules of docs/architecture.md as functions of source text: each gives the breaches it finds, as sentences."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "workbench"
LONGEST = 450
QT = {"PySide6", "shiboken6", "pyqtgraph", "qtawesome", "qtpy"}
HEAVY = {"torch", "torchvision", "faiss", "umap", "pynndescent", "numba", "sklearn", "matplotlib"} | {
    "pytorch_metric_learning",
    "optuna",
}
SQLITE = {"sqlite3", "sqlite_utils", "pysqlite3"}
ARCHITECTURE = ROOT / "docs" / "architecture.md"
LAYERS = "## What a package may import"
LAYERS_OF_THE_WINDOW = "## What a folder of the window may import"
ROOMS_OF_FOLDERS = "## Subpackages"
PAGES = f"{PACKAGE}.ui.pages."
STARTERS = {"subprocess", "multiprocessing", "concurrent", "_thread"}
STARTING_NAMES = {"QThread", "QThreadPool", "QRunnable", "QProcess", "QtConcurrent", "ThreadPoolExecutor"} | {
    "ProcessPoolExecutor",
    "ThreadPool",
    "run_in_executor",
    "to_thread",
}
STARTING_CALLS = re.compile(
    r"threading\.(Thread|Timer)|os\.(fork\w*|spawn\w+|posix_spawn\w*|system|popen|exec\w+|startfile)"
    r"|torch\.multiprocessing.*|psutil\.Popen"
)
WRITES = re.compile(
    r"\b(insert\s+(or\s+\w+\s+)?into\s+\S|replace\s+into\s+\S|update\s+[\w\"{}]+\s+set\s+[\w\"{}]+\s*="
    r"|delete\s+from\s+[\w\"]+(\s+where\b|\s*;|\s*$)"
    r"|(create|drop|alter)\s+(table|index|trigger|view)\b)",
    re.IGNORECASE,
)
# In lower or upper case, as SQL is written: "Select a run from the list" is English.
READS = re.compile(
    r"\b(select\s[^;]*?\sfrom\s+[\w\"({]|SELECT\s[^;]*?\sFROM\s+[\w\"({]|(pragma|PRAGMA)\s+\w+)", re.DOTALL
)
RUNS_SQL = {"execute", "executemany", "executescript"}
BANNED_NAMES = re.compile(r"(^|_)(managers?|helpers?|utils?|misc)(_|$)")
# Written in pieces, so that this file does not breach its own rule.
PLACES = re.compile(
    "|".join(
        (
            r"/wor" r"k/",
            r"/ho" r"me/\w",
            r"/Use" r"rs/\w",
            r"/ro" r"ot/",
            r"[A-Z]:\\+Use" r"rs\\",
            r"pythonho" r"sted",
            r"pypi\." r"org",
            r"registry\.npm" r"js",
            r"deb\.deb" r"ian",
            r"/opt/py" r"pi",
        )
    )
)


@cache
def parsed(text: str) -> ast.Module:
    """The tree of a module, parsed once for all rules."""
    return ast.parse(text)


@cache
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """All nodes of that tree: many rules look at each of them."""
    return tuple(ast.walk(parsed(text)))


def forget_trees() -> None:
    """Free 200 MB in a million objects, which Python's garbage collector would visit again and again."""
    parsed.cache_clear()
    nodes_of.cache_clear()


@dataclass(frozen=True)
class Source:
    """One module: its dotted name and its text."""

    name: str
    text: str
    is_package: bool = False

    @property
    def tree(self) -> ast.Module:
        return parsed(self.text)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return nodes_of(self.text)

    @cached_property
    def imports(self) -> tuple[tuple[str, int], ...]:
        """(dotted name, line) of all that is imported anywhere in the module."""
        return tuple(imports(self.nodes))

    @property
    def room(self) -> str:
        """The first part below the package: "ui", "losses", "jobs"; empty for the package itself."""
        return ([*self.name.split("."), ""])[1]

    @property
    def in_window(self) -> bool:
        return self.room in ("ui", "app")


@cache
def read_package(folder: Path) -> tuple[Source, ...]:
    """Every module of the package in `folder`; read once for all tests."""
    sources = []
    for path in sorted(folder.rglob("*.py")):
        parts = [folder.name, *path.relative_to(folder).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        sources.append(Source(".".join(parts[: -1 if is_package else None]), path.read_text("utf-8"), is_package))
    return tuple(sources)


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """(dotted name, line) of all that these nodes import; `from a import b` gives a.b."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and _dotted(node.func).rpartition(".")[2] in ("import_module", "__import__"):
            named = node.args[0] if node.args else None
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield named.value, node.lineno


def _run_at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those under `if TYPE_CHECKING:`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not (isinstance(node, ast.If) and _dotted(node.test).endswith("TYPE_CHECKING")):
            waiting.extend(ast.iter_child_nodes(node))


def _dotted(node: ast.AST) -> str:
    """`a.b.c` as text; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return ""


def rooms_of(text: str, heading: str = LAYERS) -> dict[str, frozenset[str]]:
    """Room -> rooms that it may import, from the table below `heading`, in its order; `ground` names several."""
    table = text.partition(heading)[2].partition("\n## ")[0]
    ground: set[str] = set()
    rooms: dict[str, frozenset[str]] = {}
    for line in re.findall(r"^\|(.+)\|$", table, re.MULTILINE)[2:]:
        stated, allowed = (re.findall(r"`(\w+)`", cell) for cell in line.split("|"))
        if stated == ["ground"]:
            ground |= set(allowed)
        else:
            rows = set(allowed) - {"ground"} | (ground if "ground" in allowed else set())
            rooms |= {room: rooms.get(room, frozenset()) | rows for room in stated}
    return rooms


def rooms_of_folders(text: str) -> dict[str, list[str]]:
    """Dotted name of a folder -> its rooms, in the order of the table below `ROOMS_OF_FOLDERS`."""
    table = text.partition(ROOMS_OF_FOLDERS)[2].partition("\n## ")[0]
    rooms: dict[str, list[str]] = {}
    for line in re.findall(r"^\|(.+)\|$", table, re.MULTILINE)[2:]:
        folder, *stated = re.findall(r"`([\w/]+)`", line)
        rooms.setdefault(f"{PACKAGE}.{folder.replace('/', '.')}", []).extend(stated)
    return rooms


MAY_IMPORT = rooms_of(ARCHITECTURE.read_text("utf-8"))
WINDOW_MAY_IMPORT = rooms_of(ARCHITECTURE.read_text("utf-8"), LAYERS_OF_THE_WINDOW)
FOLDER_ROOMS = rooms_of_folders(ARCHITECTURE.read_text("utf-8"))


def upward(rooms: dict[str, frozenset[str]]) -> list[str]:
    """Rows that allow what is stated below them, unless the two rooms are stated as one layer: both know each other."""
    order = list(rooms)
    return [
        f"{room} may import {target}, which stands below it"
        for room, allowed in rooms.items()
        for target in sorted(allowed)
        if target not in rooms or (order.index(target) > order.index(room) and room not in rooms[target])
    ]


def _from(source: Source, libraries: Iterable[str]) -> list[str]:
    wanted = set(libraries)
    return [f"{source.name}:{line} imports {name}" for name, line in source.imports if name.split(".")[0] in wanted]


def qt_outside_window(source: Source) -> list[str]:
    return [] if source.in_window else _from(source, QT)


def heavy_in_window(source: Source) -> list[str]:
    return _from(source, HEAVY) if source.room == "ui" else []


def sqlite_outside_workspace(source: Source) -> list[str]:
    return _from(source, SQLITE) if source.room != "workspace" else []


def wrong_rooms(source: Source) -> list[str]:
    """A room without a row, and imports that the row of this module's room does not allow."""
    if source.room and source.room not in MAY_IMPORT:
        return [f"{source.name} stands in a room that the table of docs/architecture.md does not name"]
    allowed = MAY_IMPORT.get(source.room, frozenset()) | {source.room, "__version__"}
    return [
        f"{source.name}:{line} imports {name}"
        for name, line in source.imports
        if name.partition(".")[0] == PACKAGE and [*name.split("."), ""][1] not in allowed
    ]


def wrong_folders_of_the_window(source: Source) -> list[str]:
    """A folder or file of `ui` without a row, and imports that its row does not allow."""
    if source.room != "ui" or source.name == f"{PACKAGE}.ui":
        return []
    folder = source.name.split(".")[2]
    if folder not in WINDOW_MAY_IMPORT:
        return [f"{source.name} is in a folder that the window's table of docs/architecture.md does not name"]
    return [
        f"{source.name}:{line} imports {name}"
        for name, line in source.imports
        if name.startswith(f"{PACKAGE}.ui.") and name.split(".")[2] not in {*WINDOW_MAY_IMPORT[folder], folder}
    ]


def pages_that_know_each_other(source: Source) -> list[str]:
    """Pages meet in the Session only."""
    if not source.name.startswith(PAGES):
        return []
    own = ".".join(source.name.split(".")[:4])
    return [
        f"{source.name}:{line} imports {name}"
        for name, line in source.imports
        if name.startswith(PAGES) and f"{name}.".partition(own + ".")[0]
    ]


def folder_with_rooms(name: str) -> str:
    """The folder with a row of rooms, or the page, that a module stands below; empty for all others."""
    page = re.match(rf"{re.escape(PAGES)}\w+(?=\.)", name)
    return next((folder for folder in FOLDER_ROOMS if name.startswith(f"{folder}.")), page.group() if page else "")


def wrong_rooms_of_a_folder(source: Source) -> list[str]:
    """A room without a place in its folder's row, and imports of a room behind it or of a file beside the rooms."""
    folder = folder_with_rooms(source.name)
    rooms = FOLDER_ROOMS.get(folder, [])
    room, _, module = source.name.removeprefix(f"{folder}.").partition(".")
    if not folder or not (module or source.is_package or room in rooms):
        return []
    if room not in rooms:
        return [f"{source.name} is in a room that the table of docs/architecture.md does not name"]
    allowed = rooms[: rooms.index(room) + 1]
    return [
        f"{source.name}:{line} imports {name}"
        for name, line in source.imports
        if f"{name}.".startswith(f"{folder}.")
        and f"{name}.".removeprefix(f"{folder}.").partition(".")[0] not in allowed
    ]


def starts_work(source: Source) -> list[str]:
    """Threads and processes outside jobs/, and data loaders with workers anywhere."""
    found = []
    for node in source.nodes:
        if isinstance(node, ast.keyword) and node.arg == "num_workers":
            if not (isinstance(node.value, ast.Constant) and node.value.value == 0):
                found.append(f"{source.name}:{node.value.lineno} asks for worker processes")
        elif source.room != "jobs" and isinstance(node, ast.Name | ast.Attribute):
            name = _dotted(node)
            if STARTING_CALLS.fullmatch(name) or name.rpartition(".")[2] in STARTING_NAMES:
                found.append(f"{source.name}:{node.lineno} uses {name}")
    if source.room == "jobs":
        return found
    for name, line in source.imports:
        if name.split(".")[0] in STARTERS or STARTING_CALLS.fullmatch(name) or name.split(".")[-1] in STARTING_NAMES:
            found.append(f"{source.name}:{line} imports {name}")
    return found


def sql_outside(source: Source) -> list[str]:
    """SQL, and what runs it, outside the workspace; docstrings may speak of it."""
    if source.room == "workspace":
        return []
    told = {
        id(node.body[0].value)
        for node in source.nodes
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = []
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNS_SQL:
            found.append(f"{source.name}:{node.lineno} runs SQL")
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            text = node.value
        else:
            continue
        if WRITES.search(text) or READS.search(text):
            found.append(f"{source.name}:{node.lineno} holds SQL: {text[:60]!r}")
    return found


def unsafe_loading(source: Source) -> list[str]:
    """What would run code out of a file: pickle, torch.load and np.load without their locks, eval, yaml."""
    found = list(_from(source, {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}))
    locks = {
        "torch.load": ("weights_only", True),
        "np.load": ("allow_pickle", False),
        "numpy.load": ("allow_pickle", False),
    }
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = _dotted(node.func)
        if name in ("eval", "exec"):
            found.append(f"{source.name}:{node.lineno} calls {name}")
        if name in locks:
            option, wanted = locks[name]
            given = [word.value for word in node.keywords if word.arg == option]
            if not (given and isinstance(given[0], ast.Constant) and given[0].value is wanted):
                found.append(f"{source.name}:{node.lineno} calls {name} without {option}={wanted}")
    return found


def unnamed_encoding(source: Source) -> list[str]:
    """Text that is read or written in the characters of the machine's country, which are not UTF-8 on Windows."""
    return [
        f"{source.name}:{node.lineno} names no encoding"
        for node in source.nodes
        if isinstance(node, ast.Call) and _is_text(node) and "encoding" not in {word.arg for word in node.keywords}
    ]


def _is_text(call: ast.Call) -> bool:
    """Whether a call that names no encoding reads or writes text."""
    name = _dotted(call.func) or getattr(call.func, "attr", "")
    words = {word.arg: word.value for word in call.keywords}
    method = name.rpartition(".")[2]
    if method in ("read_text", "write_text"):
        return len(call.args) < (1 if method == "read_text" else 2)
    if method in ("open", "fdopen") and name not in ("os.open", "tarfile.open"):
        is_function = name in ("open", "os.fdopen", "io.open")
        mode = words.get("mode", next(iter(call.args[1 if is_function else 0 :]), None))
        if mode is None:
            return is_function
        text = mode.value if isinstance(mode, ast.Constant) else ""
        return isinstance(text, str) and re.fullmatch("[rwxa+t]+", text) is not None
    flags = (words.get(word) for word in ("text", "universal_newlines"))
    return any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)


def too_long(source: Source) -> list[str]:
    lines = source.text.count("\n")
    return [f"{source.name} has {lines} lines"] if lines > LONGEST else []


def inverted_ownership(source: Source) -> list[str]:
    """Questions whose answer PySide takes for a child of the widget that was asked, and deletes with it."""
    return [
        f"{source.name}:{node.lineno} asks for {node.attr}"
        for node in source.nodes
        if isinstance(node, ast.Attribute) and node.attr in ("nextInFocusChain", "previousInFocusChain", "focusProxy")
    ]


def banned_name(source: Source) -> list[str]:
    return [f"{source.name} is named after nothing" for part in source.name.split(".") if BANNED_NAMES.search(part)]


def private_signals(source: Source) -> list[str]:
    """Signals that only their object hears: what a thread sends to the window goes through the mailbox."""
    return [
        f"{source.name}:{node.lineno} has the signal {target.id}; see ui/state/background/mailbox.py"
        for node in source.nodes
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id.startswith("_") and ast.unparse(node.value.func) == "Signal"
        if source.name != f"{PACKAGE}.ui.state.background.mailbox"
    ]


def machine_places(name: str, text: str) -> list[str]:
    """Paths of one machine and hosts of package registries in a tracked file."""
    return [
        f"{name}:{number} holds {found.group()}"
        for number, line in enumerate(text.splitlines(), 1)
        if (found := PLACES.search(line))
    ]


VAGUE = {"each", "found", "told", "given", "it"}


def vague_names(source: Source) -> list[str]:
    """Variables and parameters whose name does not say what they hold."""
    named = [
        (node.lineno, node.id)
        for node in source.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    named += [(node.lineno, node.arg) for node in source.nodes if isinstance(node, ast.arg)]
    return [f"{source.name}:{line} names {name!r}" for line, name in sorted(named) if name in VAGUE]


CALLBACKS = re.compile(r"[A-Z]|^handle_|^forward(_checked)?$")


def undocumented(source: Source) -> list[str]:
    """Public classes, functions and methods without a docstring.

    Callbacks of Qt, HTMLParser and torch are left out: names with capitals, `handle_`, `forward`, and
    BatchLoss.forward_checked. Their class says it.
    """
    waiting: list[tuple[str, ast.AST]] = [(source.name, source.tree)]
    breaches = []
    while waiting:
        prefix, owner = waiting.pop()
        for node in getattr(owner, "body", []):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or node.name[0] == "_":
                continue
            name = f"{prefix}.{node.name}"
            is_callback = isinstance(owner, ast.ClassDef) and CALLBACKS.search(node.name)
            if not (is_callback or _is_setter(node) or ast.get_docstring(node)):
                breaches.append(f"{name}:{node.lineno} has no docstring")
            if isinstance(node, ast.ClassDef):
                waiting.append((name, node))
    return breaches


def _is_setter(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(_dotted(decorator).endswith(".setter") for decorator in node.decorator_list)


def import_graph(sources: Iterable[Source], typing_too: bool = False) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports when it is itself imported or at work.

    With `typing_too` also those that it names for the type checker alone.
    """
    sources = list(sources)
    known = {source.name for source in sources}
    graph = {}
    for source in sources:
        named = {name for name, _ in (source.imports if typing_too else imports(_run_at_run_time(source.tree)))}
        graph[source.name] = {
            target
            for name in named
            if (target := name if name in known else name.rpartition(".")[0]) in known and target != source.name
        }
    return graph


def cycles(graph: dict[str, set[str]]) -> list[str]:
    """One line per circle of imports that a walk through the graph meets."""
    found: list[str] = []
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> None:
        if name in way:
            found.append(" -> ".join([*way[way.index(name) :], name]))
        elif name not in done:
            for target in sorted(graph.get(name, ())):
                walk(target, [*way, name])
            done.add(name)

    for name in sorted(graph):
        walk(name, [])
    return found
