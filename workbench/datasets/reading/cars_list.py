"""Reads a list of Cars-196 in a process of its own: SciPy's reader of MATLAB files can crash on a damaged one.

python -m workbench.datasets.reading.cars_list FILE

prints {"annotations": [[path, class, test], ...], "class_names": [...]}
"""

import json
import sys
from typing import Any

import numpy as np

PATH, IN_DEVKIT, TEST = "relative_im_path", "fname", "test"  # fields; those of the devkit have no folder and no flag


def read(path: str) -> dict[str, list[Any]]:
    """(path, class from 1, test flag) of every image, and the class names; either may be empty. Errors are SciPy's."""
    from scipy.io import loadmat

    whole: dict[str, Any] = loadmat(path, squeeze_me=True, variable_names=("annotations", "class_names"))
    names = [str(name) for name in np.atleast_1d(whole.get("class_names", [])).tolist()]
    images = _images(np.atleast_1d(whole["annotations"])) if "annotations" in whole else []
    return {"annotations": images, "class_names": names}


def _images(annotations: np.ndarray) -> list[list[Any]]:
    fields = annotations.dtype.names or ()
    paths = annotations[PATH if PATH in fields else IN_DEVKIT].tolist()
    flags = annotations[TEST].tolist() if TEST in fields else [0] * len(paths)
    rows = zip(paths, annotations["class"].tolist(), flags, strict=True)
    return [[str(image), int(label), int(test)] for image, label, test in rows]


def main(path: str) -> int:
    """Print what the file holds as JSON; 1 with the reason on stderr where it cannot be read."""
    try:
        sys.stdout.write(json.dumps(read(path)))
    except Exception as error:  # noqa: BLE001 - SciPy names no types; the reason goes to the caller
        sys.stderr.write(f"{error or type(error).__name__}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
