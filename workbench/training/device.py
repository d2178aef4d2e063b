"""The device that trains: its choice, its abilities and its free memory."""

import platform
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

import psutil
import torch

from workbench import machine_memory
from workbench.numerals import byte_size
from workbench.problem import Problem

# Linux: what this process says of its memory, and where it takes back its peak.
STATUS, CLEAR, CLEAR_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs"), "5"
CHANNELS_LAST = ("cpu", "cuda")  # measured on CPU: 10 to 30% faster steps for the backbones here


def choose(wanted: str) -> torch.device:
    """The device to train on: "auto" is CUDA if available, else MPS, else the CPU; "cuda:1" is the second GPU.

    Raises:
        Problem: this machine does not have the device.
    """
    refuse_missing(wanted)
    if wanted == "auto":
        return torch.device(next(name for name, is_there in _there().items() if is_there))
    _, _, number = wanted.partition(":")
    if number:
        torch.cuda.set_device(int(number))  # for this thread: calls without a GPU's number use this one
    return torch.device(wanted)


def refuse_missing(wanted: str) -> None:
    """Raise Problem if this machine does not have the device; nothing is loaded onto it."""
    kind, _, number = wanted.partition(":")
    if kind != "auto" and not _there()[kind]:
        word = {"cuda": "CUDA GPU", "mps": "Apple GPU (MPS)"}[kind]
        raise Problem(
            f"This machine has no {word} that torch {torch.__version__} can use.",
            kept="Nothing was started.",
            todo='Set device to "auto" or "cpu", or install a driver and a torch build for it.',
        )
    if number and int(number) >= (count := torch.cuda.device_count()):
        last = "is cuda:0" if count == 1 else f"are cuda:0 to cuda:{count - 1}"
        raise Problem(f"There is no {wanted} here: the GPUs {last}.", kept="Nothing was started.")


def _there() -> dict[str, bool]:
    """Which kinds of device this machine has, the fastest first."""
    return {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}


def gpus() -> list[str]:
    """One line for each CUDA GPU: its name and its free memory. Initialises each of them briefly."""
    return [words(torch.device("cuda", number)) for number in range(torch.cuda.device_count())]


def words(device: torch.device) -> str:
    """The device in words; for a CUDA GPU, its name, its number, and how much of its memory is free."""
    if device.type != "cuda":
        return device.type
    free, total = torch.cuda.mem_get_info(device)
    number = torch.cuda.current_device() if device.index is None else device.index
    name = torch.cuda.get_device_name(device)
    return f"{name} (cuda:{number}), {byte_size(free)} of {byte_size(total)} free"


def computes_bf16(device: torch.device) -> bool:
    """Whether a CUDA device multiplies bf16; GPUs before Ampere emulate it, slowly, and cuDNN convolves none there."""
    with torch.cuda.device(device):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def precision_on(device: torch.device, wanted: str) -> str:
    """What "auto" means there: bf16 on a CUDA device that computes in it, else float32; other words are returned."""
    if wanted != "auto":
        return wanted
    return "bf16" if device.type == "cuda" and computes_bf16(device) else "float32"


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Autocast for "bf16" and "fp16", none for "float32"; "auto" as in `precision_on`."""
    match precision_on(device, precision):
        case "fp16":
            return torch.autocast(device.type, torch.float16)
        case "bf16":
            return torch.autocast(device.type, torch.bfloat16)
    return nullcontext()


def memory_in_use(device: torch.device) -> int:
    """Bytes in use: of the GPU by this program, or of this process on the CPU."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device)
    if device.type == "mps":
        return torch.mps.current_allocated_memory()
    return int(psutil.Process().memory_info().rss)


def free_memory(device: torch.device) -> int | None:
    """Bytes that a CUDA device can still give this program, torch's unused cache included; None for another device."""
    if device.type != "cuda":
        return None
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + cached


def peak_memory(device: torch.device) -> int:
    """The most bytes in use since `forget_peak`: of a CUDA device, or on the CPU of this process, where Linux says it.

    Elsewhere what `memory_in_use` says now.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    now = memory_in_use(device)
    return max(now, _process_peak()) if device.type == "cpu" else now


def says_peak(device: torch.device) -> bool:
    """Whether `peak_memory` is a peak, and not only what is in use now."""
    return device.type == "cuda" or (device.type == "cpu" and _process_peak() > 0)


def _process_peak() -> int:
    """Bytes that this process had in use at most; 0 on systems that do not say so."""
    with suppress(OSError):
        for line in STATUS.read_text("utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


def whole_memory(device: torch.device) -> int:
    """Bytes that the device has in all: a CUDA device, or the memory that programs on this machine may have."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return machine_memory.whole()


def forget_peak(device: torch.device) -> None:
    """Begin a new peak at what is in use now."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    elif device.type == "cpu" and says_peak(device):
        with suppress(OSError):  # a sandbox may forbid it: the peak is then that of the process since its start
            CLEAR.write_text(CLEAR_PEAK, "utf-8")


def name_of_gpu(device: torch.device) -> str | int | None:
    """The UUID of a CUDA device as its driver writes it, else its number; None for another device."""
    if device.type != "cuda":
        return None
    number = torch.cuda.current_device() if device.index is None else device.index
    uuid = getattr(torch.cuda.get_device_properties(number), "uuid", None)
    return number if uuid is None else f"GPU-{uuid}"


def wait_for(device: torch.device) -> None:
    """Return once a GPU has finished its work; on the CPU, return at once."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether torch or Python ran out of memory, on any device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(
        words in str(error).lower()
        for words in ("out of memory", "can't allocate memory", "not enough memory", "_alloc_failed")  # cuBLAS, cuDNN
    )


def let_go(error: BaseException) -> None:
    """Free what the functions that raised an error still hold, such as the activations of a step, and cached memory.

    The error keeps their frames, and whoever keeps the error keeps the memory.
    """
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__context__
    free_cached()


@contextmanager
def refusing_what_does_not_fit(
    kept: str = "Nothing was started.", todo: str = "choose another device or a smaller network"
) -> Iterator[None]:
    """For the block that puts a network and its data on a device. Raises Problem if that has no memory for them.

    Args:
        kept: the Problem's.
        todo: what to do besides ending other programs.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        let_go(error)
        reason = str(error).strip().partition("\n")[0]
        raise Problem(
            f"The network and its data do not fit into the memory of the device ({reason}).",
            kept=kept,
            todo=f"End other programs that use it, or {todo}.",
        ) from None


def free_cached() -> None:
    """Give memory that nothing uses any more back to the GPU, for other programs."""
    torch.cuda.empty_cache()  # nothing without CUDA
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()


def not_compiled(error: Exception) -> Problem:
    """The Problem for an error of torch.compile."""
    reason = str(error).strip().partition("\n")[0]
    return Problem(
        f"torch cannot compile this backbone here ({reason}).",
        kept="The run is kept.",
        todo='Turn "Compile backbone" off.',
        field="training.compile_backbone",
        fits=False,
    )


def describe(device: torch.device) -> dict[str, str]:
    """Facts about the machine for the report: device, versions, cores."""
    facts = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "threads": str(torch.get_num_threads()),
        "cores": str(psutil.cpu_count() or 1),
        "memory_gib": f"{machine_memory.whole() / 2**30:.1f}",
    }
    if device.type == "cuda":
        facts["cuda"] = str(torch.version.cuda)
    return facts
