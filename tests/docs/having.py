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


def give_boxes(folder: Path) -> None:
    """A list with a box for each photograph of `birds`, and weights of the network that the page names."""
    give_photographs(folder)
    rows = [f"birds/bird {n}/{number}.png,bird {n},8,4,40,40" for n in range(CLASSES) for number in range(IMAGES)]
    (folder / "boxes.csv").write_text("\n".join(["path,label,left,top,width,height", *rows]), "utf-8")


def png(image: Image.Image) -> bytes:
    """The bytes of its file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def give_machines(folder: Path, monkeypatch: pytest.MonkeyPatch, *, installed: bool = True) -> None:
    """`lab1`, `lab2` and `login1`: this machine by the sshd of the tests, with a home folder that has Workbench.

    Where it is not `installed`, the home folder has nothing but the settings that pip has here by its environment.

    OpenSSH reads the person's own config wherever HOME is, so an `ssh` in front of it takes another one, also in place
    of the one that Workbench names, which includes the person's.
    """
    config = Path(there("ssh")["CONFIG"]).read_text("utf-8")
    there("slurm")
    (folder / "config").write_text(config.replace("Host here", "Host lab1 lab2 login1"), "utf-8")
    (folder / "home").mkdir()
    if installed:
        home = folder / "home" / "workbench-place" / "bin"
        home.mkdir(parents=True)
        python(home)
    else:
        give_settings_of_pip(folder / "home")
    asked = f'cd "{folder}/home"; HOME="{folder}/home"; export HOME; '
    lines = [
        "#!/bin/sh",
        "count=$# number=0 before=",
        "for word; do shift; number=$((number + 1))",
        'case "$before|$word" in -F\\|*|*\\|-F) ;; *) [ $number = $count ] || set -- "$@" "$word" ;; esac',
        "before=$word; done",
        f'exec {shutil.which("ssh")} -F "{folder}/config" "$@" \'{asked}\'"$word"',
    ]
    (folder / "bin").mkdir()
    (folder / "bin" / "ssh").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("WORKBENCH_PLACES", str(folder / "places"))


def give_settings_of_pip(home: Path) -> None:
    """The pip of a place takes what its own settings say; here they stand in the environment, which ssh leaves here."""
    settings = {name[4:].lower().replace("_", "-"): value for name, value in os.environ.items() if name[:4] == "PIP_"}
    lines = ["[global]", "no-cache-dir = true", *(f"{name} = {value}" for name, value in settings.items())]
    path = home / ".config" / "pip" / "pip.conf"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def give_cub(folder: Path) -> None:
    """CUB-200-2011 as published, with eight species of six photographs, and weights of ResNet-50, untrained."""
    import torch
    from torchvision.models import resnet50

    paths = [(index, f"{index + 1:03d}.Bird_{index}/{number}.jpg", number) for index in range(8) for number in range(6)]
    for index, path, number in paths:
        (folder / "images" / path).parent.mkdir(parents=True, exist_ok=True)
        picture(index, number).save(folder / "images" / path)
    lists = {
        "images.txt": [path for _, path, _ in paths],
        "image_class_labels.txt": [index + 1 for index, _, _ in paths],
        "train_test_split.txt": [int(number < 3) for _, _, number in paths],
    }
    for name, values in lists.items():
        lines = [f"{row} {value}" for row, value in enumerate(values, 1)]
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    torch.save(resnet50().state_dict(), folder.parent / "resnet50.pth")


def give_products(folder: Path) -> None:
    """Stanford Online Products as published, with 12 products of three photographs, and weights of BN-Inception."""
    import torch

    from workbench.backbones.bn_inception import features

    for name, products in (("Ebay_train.txt", range(1, 9)), ("Ebay_test.txt", range(9, 13))):
        lines = ["image_id class_id super_class_id path"]
        for product in products:
            for number in range(3):
                path = f"bicycle_final/{product}_{number}.JPG"
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                picture(product, number).save(folder / path)
                lines.append(f"{3 * product + number} {product} 1 {path}")
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    torch.save(features().state_dict(), folder.parent / "bn_inception.pth")


def give_checkout(folder: Path) -> None:
    """The scripts of this checkout in the reader's folder, and a folder for the pictures that they draw."""
    root = Path(__file__).resolve().parents[2]
    for name in ("tests", "packaging"):
        (folder / name).symlink_to(root / name)
    (folder / "docs").mkdir()
