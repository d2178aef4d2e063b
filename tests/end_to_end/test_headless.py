"""The command line as a person uses it: processes, exit statuses, Ctrl+C and --resume."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from tests.waits import HANG
from workbench.__main__ import main
from workbench.config import RunConfig
from workbench.training import checkpoint
from workbench.workspace import Workspace

SMALL = """
name = "small"
seed = 3
device = "cpu"
[dataset]
name = "digits"
[backbone]
name = "conv4"
width = 8
[loss]
name = "ce"
[training]
epochs = 4
batch_size = 32
[evaluation]
probe_size = 100
probe_every = 10
"""


@pytest.fixture
def config(tmp_path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def environment(tmp_path_factory) -> dict[str, str]:
    cache = tmp_path_factory.getbasetemp() / "cache"
    return {**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(cache)}


def workbench(environment, *words, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbench", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=HANG, **options)


def test_the_sample_runs_to_a_report(environment, tmp_path, capsys):
    done = workbench(environment, "sample", "-w", tmp_path / "space", "--epochs", 1)
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.strip().splitlines()[-1])
    html = report.read_text("utf-8")
    assert "MAP@R" in html
    assert "data:image" in html or "<svg" in html
    with Workspace(tmp_path / "space") as workspace:
        run = workspace.run(1)
        assert run.status == "done"
        assert run.best["MAP@R"] > workspace.evaluations(1)[0].metrics["MAP@R"] + 0.2, "it learned"
        assert [each.epoch for each in workspace.evaluations(1)] == [0, 1]
    assert main(["list", "runs", "-w", str(tmp_path / "space")]) == 0
    assert "Sample: Digits" in capsys.readouterr().out


@pytest.mark.slow
def test_ctrl_c_keeps_a_checkpoint_and_resume_ends_as_if_nothing_had_happened(environment, config, tmp_path):
    straight = workbench(environment, "run", config, "-w", tmp_path / "straight")
    assert straight.returncode == 0, straight.stderr

    broken = tmp_path / "broken"
    command = [sys.executable, "-m", "workbench", "run", str(config), "-w", str(broken)]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: (broken / "workspace.db").exists() and steps_done(broken) >= 30, child)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=HANG)
    assert child.returncode == 130, said
    assert "--resume" in said
    with Workspace(broken) as workspace:
        run = workspace.run(1)
        assert run.status == "stopped"
        assert 30 <= run.done < run.total

    resumed = workbench(environment, "run", config, "-w", broken, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    one = checkpoint.load(tmp_path / "straight" / "runs" / "1" / "last.pt")
    two = checkpoint.load(broken / "runs" / "1" / "last.pt")
    assert one["step"] == two["step"]
    for part in ("model", "loss"):
        for name, weight in one[part].items():
            assert torch.equal(weight, two[part][name]), name
    with Workspace(broken) as workspace, Workspace(tmp_path / "straight") as other:
        steps, values = workspace.scalars(1, "batch/loss")
        assert steps.tolist() == list(range(1, run.total + 1)), "no step twice, none missing"
        assert values.tolist() == other.scalars(1, "batch/loss")[1].tolist()
        assert workspace.run(1).best == other.run(1).best


def steps_done(folder: Path) -> int:
    with Workspace(folder) as workspace:
        return workspace.run(1).done if workspace.runs() else 0


def wait_for(ready, child) -> None:
    until = time.monotonic() + HANG
    while not ready():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_wrong_config_is_status_2_and_names_the_field(environment, config, tmp_path):
    config.write_text(SMALL.replace("epochs = 4", "epochs = 0\nlearning = 1"))
    done = workbench(environment, "run", config, "-w", tmp_path / "space")
    assert done.returncode == 2
    assert "training.epochs: Must be 1 or more." in done.stderr
    assert "training.learning: There is no such field." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["report", "7", "--workspace", "nowhere"], 1, "not a workspace"),
        (["list", "looses"], 2, "looses"),
    ],
)
def test_every_problem_is_a_sentence_and_its_status(environment, tmp_path, words, status, says):
    done = workbench({**environment, "WORKBENCH_WORKSPACE": str(tmp_path / "space")}, *words, cwd=Path.cwd())
    assert done.returncode == status, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "space" / "runs" / "1").exists(), "a run that cannot begin is not made"


@pytest.mark.skipif(os.name == "nt", reason="a pipe without a reader is another error there")
@pytest.mark.parametrize("words", [["list", "losses"], ["list", "losses", "--json"], ["sweep", "presets"]])
def test_output_that_nobody_reads_ends_a_command_as_sigpipe_does_and_without_a_word(environment, words):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "workbench", *words]
    with os.fdopen(writer, "w") as unread:
        done = subprocess.run(command, env=environment, stdout=unread, stderr=subprocess.PIPE, text=True, timeout=HANG)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_for_which_there_is_no_room_is_a_sentence(environment):
    command = [sys.executable, "-m", "workbench", "list", "presets"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=HANG)
    assert ended.returncode == 1
    assert ended.stderr.startswith("The output could not be written (No space left on device).")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the shell closes the streams")
def test_a_run_needs_neither_output_nor_error_output(environment, config, tmp_path):
    config.write_text(SMALL.replace("epochs = 4", "epochs = 1").replace("probe_size = 100", "probe_size = 0"))
    command = f'"{sys.executable}" -m workbench run "{config}" -w "{tmp_path}/space" >&- 2>&-'
    assert subprocess.run(command, shell=True, env=environment, timeout=HANG, check=False).returncode == 0
    with Workspace(tmp_path / "space") as workspace:
        assert workspace.run(1).status == "done"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "nowhere.toml"], "There is no config file"),
        (["run", "."], "It is a folder, not a file"),
        (["run"], "CONFIG"),
    ],
)
def test_a_config_that_is_not_there_is_a_sentence_too(tmp_path, monkeypatch, capsys, words, says):
    """In this process, as those below."""
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "space"))
    assert main(words) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said
    assert not (tmp_path / "space" / "runs" / "1").exists(), "a run that cannot begin is not made"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sample-digits", "--set", "device=cuda"], "no CUDA GPU"),
        (["sample-digits", "--set", "training.batch_size=5000"], "5000"),
        (["mnist-ce-spce", "--set", "dataset.folder=nowhere"], "nowhere"),
    ],
)
def test_a_problem_that_is_seen_after_torch_is_loaded_is_a_sentence_too(environment, tmp_path, capsys, words, says):
    """In this process: to load torch anew takes most of the time of such a run."""
    if "device=cuda" in words and torch.cuda.is_available():
        pytest.skip("this machine has a CUDA GPU")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", environment["XDG_CACHE_HOME"])
        assert main(["run", *words, "-w", str(tmp_path / "space")]) == 1
    said = capsys.readouterr().err
    assert says in said
    assert "Traceback" not in said


def test_every_preset_passes_its_own_check():
    from workbench.entries import catalog
    from workbench.settings.presets import presets

    known = catalog.current()
    for preset in presets():
        assert preset.config.check(known) == {}, preset.key
        assert RunConfig.from_toml_text(preset.config.to_toml(), known=known) == preset.config
