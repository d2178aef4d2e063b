"""What a bundle is made of: the one definition that workbench.spec, the AppImage, the installer and the CI read."""

from importlib.metadata import distribution
from pathlib import Path

import release
from release import ROOT

NAME = "Workbench"
COMMAND, WINDOW = "workbench", "workbench-gui"  # the programs of a bundle: with a console on Windows, and without
IDENTIFIER = "org.metric-workbench.workbench"  # of the macOS application
CONFIG_SUFFIX = "toml"  # macOS knows no endings of two parts
PUBLISHER = "Workbench contributors"
DESCRIPTION = "Deep metric learning: pick, train, watch, map, browse, report"
ICON = ROOT / "resources" / "desktop" / "metric-workbench.svg"
ICON_SIZE = 512  # px of the picture that icons of Windows and macOS are made from
START = ROOT / "packaging" / "start.py"
VERSION = release.version()

# Packages that import their own modules by name, so that nothing in their source leads there.
BY_NAME = ("workbench", "huggingface_hub", "optuna", "openTSNE", "pynndescent", "timm", "onnx", "onnxscript")
# Packages whose files are read while they work.
WITH_DATA = ("pytorch_metric_learning", "openTSNE", "typst", "onnx", "onnxscript", "timm")
# Modules whose source files are read: the catalog is named after them, a run notes their hashes.
WITH_SOURCE = {"workbench": "pyz+py"}

# Installed beside Workbench, or asked for by a package, but of no use in a bundle.
LEFT_OUT = [
    "IPython", "PyInstaller", "_pytest", "hypothesis", "jupyter", "matplotlib.tests", "mkdocs", "mypy", "numpy.f2py",
    "numpy.tests", "onnx.backend.test", "onnxruntime", "optuna.visualization", "pip", "pyqtgraph.examples",
    "pyqtgraph.jupyter", "pyqtgraph.opengl", "pytest", "ruff", "scipy.conftest", "sklearn.conftest", "tensorboard",
    "tensorflow", "tkinter", "torch.testing._internal.distributed", "torch.utils.benchmark", "torchgen",
    "PySide6.QtNetwork", "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtWebEngineCore", "PySide6.QtSql",
    # torch.compile needs a C compiler and Python's headers beside triton (1 GB): a bundle has neither.
    "triton",
]  # fmt: skip
# Files, as patterns of their place in the bundle, that hooks of PyInstaller bring along.
FILES_LEFT_OUT = (
    "PySide6/Qt/translations/*", "PySide6/Qt/qml/*", "*/tests/*", "*/test_data/*", "torch/bin/*", "torch/test/*",
    "torch/include/*", "torch/share/*", "torch/utils/model_dump/*", "pyarrow/include/*", "pyarrow/src/*",
    "pyarrow/*.pxd", "pyarrow/includes/*", "pyarrow/libarrow_flight*", "pyarrow/_flight*", "triton/*",
    "matplotlib/mpl-data/sample_data/*", "onnx/backend/test/*", "*.pyi", "*.a", "*/libcusolverMg*", "*/libnvperf_*",
    "*/libcheckpoint*", "*/libpcsamplingutil*", "*.bc",
)  # fmt: skip


def packages() -> dict[str, list[str]]:
    """Every installed package that a bundle carries -> those that it asks for."""
    return {name: asked for name, asked in release.packages().items() if name not in LEFT_OUT}


def cuda_libraries() -> list[tuple[str, str]]:
    """The libraries of NVIDIA's packages with their folder in the bundle; torch opens many of them by name."""
    site = Path(str(distribution("torch").locate_file("")))
    return [(str(path), str(path.parent.relative_to(site))) for path in sorted(site.glob("nvidia/*/lib/*.so*"))]
