"""Reads the list of Cars-196 in a process of its own: SciPy's reader of MATLAB files can crash on a damaged one.

python -m workbench.datasets.reading.cars_list FILE      # prints {"images": [[path, class, test], ...], "names": [...]}
"""

import json
import sys
from typing import Any

import numpy as np

FIELDS = ("relative_im_path", "class", "test")


def read(path: str) -> dict[str, list[Any]]:
    """(relative path, class from 1, test flag) of every image, and the class names. Errors are SciPy's."""
    from scipy.io import loadmat

    whole: dict[str, Any] = loadmat(path, squeeze_me=True, variable_names=("annotations", "class_names"))
    annotations = np.atleast_1d(whole["annotations"])
    columns = [annotations[field].tolist() for field in FIELDS]
    rows = zip(*columns, strict=True)
    images = [[str(image), int(label), int(test)] for image, label, test in rows]
    return {"images": images, "names": [str(name) for name in np.atleast_1d(whole["class_names"]).tolist()]}


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
