"""What a reader of docs/ is told to have."""

import io
import json
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from tests.clusters.there import there
from tests.clusters.training import python

BATCH = 16  # classes that a batch of the photographs' preset has
CLASSES, IMAGES = 34, 3  # of `birds`: more classes than BATCH in its half


def give_photographs(folder: Path) -> None:
    """`birds`, one colour for each class, and weights of the network that the page names."""
    for index in range(CLASSES):
        (folder / "birds" / f"bird {index}").mkdir(parents=True)
        for number in range(IMAGES):
            picture(index, number).save(folder / "birds" / f"bird {index}" / f"{number}.png")
    give_weights(folder)


def picture(index: int, number: int) -> Image.Image:
    """An image of a class."""
    return Image.new("RGB", (64, 48), (index * 7 % 256, index * 31 % 256, number * 20))


def give_weights(folder: Path) -> None:
    """Weights of the network that the photographs' preset names, untrained."""
    import torch
    from torchvision.models import squeezenet1_0

    torch.save(squeezenet1_0().state_dict(), folder / "squeezenet1_0.pth")


def give_arrow(folder: Path) -> None:
    """A train and a test split, each an Arrow stream, as `save_to_disk` of Hugging Face's library writes them."""
    pyarrow = pytest.importorskip("pyarrow")
    features = {
        "image": {"_type": "Image"},
        "label": {"_type": "ClassLabel", "names": [f"bird {n}" for n in range(CLASSES)]},
    }
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    for split, classes in (("train", BATCH), ("test", 3)):
        (folder / split).mkdir(parents=True)
        rows = [(index, number) for index in range(classes) for number in range(2)]
        images = [{"bytes": png(picture(*row)), "path": None} for row in rows]
        table = pyarrow.table({"image": pyarrow.array(images, kind), "label": [index for index, _ in rows]})
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
        with (
            pyarrow.OSFile(str(folder / split / "data.arrow"), "wb") as sink,
            pyarrow.ipc.new_stream(sink, table.schema) as writer,
        ):
            writer.write_table(table)
        state = {"_data_files": [{"filename": "data.arrow"}], "_split": split, "_indices_data_files": None}
        (folder / split / "state.json").write_text(json.dumps(state), "utf-8")
        (folder / split / "dataset_info.json").write_text("{}", "utf-8")
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}), "utf-8")


def png(image: Image.Image) -> bytes:
    """The bytes of its file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def give_machines(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`lab1`, `lab2` and `login1`: this machine by the sshd of the tests, with a home folder that has Workbench.

    OpenSSH reads the person's own config wherever HOME is, so an `ssh` in front of it names another one.
    """
    config = Path(there("ssh")["CONFIG"]).read_text("utf-8")
    there("slurm")
    (folder / "config").write_text(config.replace("Host here", "Host lab1 lab2 login1"), "utf-8")
    home = folder / "home" / "workbench-place" / "bin"
    home.mkdir(parents=True)
    python(home)
    asked = f'cd "{folder}/home"; HOME="{folder}/home"; export HOME; '
    lines = [
        "#!/bin/sh",
        "count=$# number=0",
        'for word; do shift; number=$((number + 1)); [ $number = $count ] || set -- "$@" "$word"; done',
        f'exec {shutil.which("ssh")} -F "{folder}/config" "$@" \'{asked}\'"$word"',
    ]
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("WORKBENCH_PLACES", str(folder / "places"))
