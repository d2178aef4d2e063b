"""The peak memory of a run: what its GPU had in use at most, evaluations included, kept when the run is resumed."""

import pytest
import torch

from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Ended, Progress
from workbench.progress import quiet
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.training import device, meter
from workbench.workspace import Workspace
from workbench.workspace.folders import journal, travelling
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders.folder_recorder import FolderRecorder

CONFIG = RunConfig(
    device="cpu", backbone=Choice(name="conv4", params={"width": 4}), training=TrainingParams(epochs=2),
    evaluation=EvaluationParams(probe_size=0, untrained=False),
)  # fmt: skip


def used(*sizes):
    return [Progress(step, 10, 1.0, size) for step, size in enumerate(sizes, start=1)]


def test_the_peak_of_a_cuda_device_is_that_since_it_was_forgotten(monkeypatch):
    asked = []
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda gpu: asked.append(("read", gpu)) or 7)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", lambda gpu: asked.append(("forgotten", gpu)))
    gpu = torch.device("cuda:1")
    device.forget_peak(gpu)
    assert device.peak_memory(gpu) == 7
    assert asked == [("forgotten", gpu), ("read", gpu)]


def test_the_peak_of_the_cpu_is_that_of_the_process_and_not_what_is_in_use_after_a_step():
    cpu = torch.device("cpu")
    if not device.says_peak(cpu):
        pytest.skip("this system does not say the peak of a process")
    before = device.memory_in_use(cpu)
    device.forget_peak(cpu)
    large = torch.ones(256 << 20, dtype=torch.uint8)
    del large
    assert device.peak_memory(cpu) > before + (200 << 20)
    device.forget_peak(cpu)
    assert device.peak_memory(cpu) < before + (200 << 20)


def test_a_system_that_does_not_say_its_peak_has_what_is_in_use_now(monkeypatch, tmp_path):
    monkeypatch.setattr(device, "STATUS", tmp_path / "no such file")
    cpu = torch.device("cpu")
    device.forget_peak(cpu)
    assert not device.says_peak(cpu)
    assert device.peak_memory(cpu) > 1 << 20


def test_a_run_in_a_workspace_keeps_its_greatest_memory_also_when_it_is_resumed(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        number = workspace.create_run(CONFIG)
        for sizes, peak in (((3, 8, 5), 8), ((2, 6), 8), ((9, 1), 9)):
            recorder = Recorder(workspace, number)
            for event in (*used(*sizes), Ended("interrupted")):
                recorder(event)
            assert workspace.run(number).memory_bytes == peak
            workspace.hand_over(number)
            workspace.take_over(number)


def test_a_run_folder_keeps_it_too(tmp_path):
    folder = tmp_path / "run"
    travelling.make(folder, CONFIG)
    peaks = []
    for sizes in ((3, 8, 5), (2, 6), (9, 1)):
        recorder = FolderRecorder(folder)
        for event in (*used(*sizes), Ended("interrupted")):
            recorder(event)
        rows = [entry.run for entry in filter(None, journal.entries(folder)) if entry.run is not None]
        peaks.append([row.memory_bytes for row in rows if "memory_bytes" in row.model_fields_set][-1])
    assert peaks == [8, 8, 9]


@pytest.fixture
def memory(monkeypatch):
    """A pretended peak, which begins again when it is forgotten."""
    peak = [900]
    monkeypatch.setattr(device, "forget_peak", lambda on: peak.__setitem__(0, 100))
    monkeypatch.setattr(meter, "peak_memory", lambda on: peak[0])
    return peak


def test_a_run_tells_its_own_peak_and_that_of_its_last_evaluation(memory, tmp_path, monkeypatch):
    events = []
    engine = Engine(CONFIG, load_data(CONFIG, quiet), tmp_path, Control(), events.append)
    real = engine.evaluator.evaluate

    def evaluate(epoch):
        if epoch == CONFIG.training.epochs:
            memory[0] = 500
        return real(epoch)

    monkeypatch.setattr(engine.evaluator, "evaluate", evaluate)
    engine.run()
    seen = [event.memory_bytes for event in events if isinstance(event, Progress)]
    assert seen[0] == 100, "what the process used before the run is not of the run"
    assert seen[-1] == max(seen) == 500
