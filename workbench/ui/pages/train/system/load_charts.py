"""The charts of the System tab: which stored numbers each shows, in which unit and under which limit."""

from dataclasses import dataclass

from workbench.colours import OKABE_ITO
from workbench.machine_load import DISK, GPU_LOAD, GPU_MEMORY, GROUP_LIMIT, LIMITS, POWER, PROCESSOR, TEMPERATURE
from workbench.machine_load import MEMORY as MACHINE_MEMORY
from workbench.ui.pages.train.system.costs import MEMORY, PARTS

BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE = OKABE_ITO[:6]
COLOURS = dict(zip(PARTS, (SKY, BLUE, VERMILION, GREEN, ORANGE, PURPLE), strict=True))
SYSTEM = "system/"  # before the names of what is measured of a run


@dataclass(frozen=True, slots=True)
class LoadChart:
    """A chart of the tab: its title with the unit, its curves, and what its stored numbers are multiplied by."""

    title: str
    curves: tuple[tuple[str, str, str], ...]  # (stored name, title, colour) each
    factor: float = 1.0
    limits: tuple[tuple[str, str], ...] = ()  # stored names of limits with their words; the first that is stored counts

    @property
    def unit(self) -> str:
        """Of what is drawn."""
        return self.title.rpartition(", ")[2]


GB = 1e-9
CHARTS = (
    LoadChart("GPU load, %", ((f"{SYSTEM}{GPU_LOAD}", "GPU", BLUE),), 100),
    LoadChart("GPU memory, GB", ((f"{SYSTEM}{GPU_MEMORY}", "GPU memory", GREEN),), GB,
              ((f"{SYSTEM}{LIMITS[GPU_MEMORY]}", "all of the GPU"),)),
    LoadChart("Power, W", ((f"{SYSTEM}{POWER}", "Power", ORANGE),), limits=((f"{SYSTEM}{LIMITS[POWER]}", "limit"),)),
    LoadChart("Temperature, °C", ((f"{SYSTEM}{TEMPERATURE}", "GPU", VERMILION),),
              limits=((f"{SYSTEM}{LIMITS[TEMPERATURE]}", "slows down"),)),
    LoadChart("CPU, %", ((f"{SYSTEM}{PROCESSOR}", "All cores", BLUE),), 100),
    LoadChart("Memory, GB", ((MEMORY, "This run", GREEN), (f"{SYSTEM}{MACHINE_MEMORY}", "All programs", SKY)), GB,
              ((f"{SYSTEM}{GROUP_LIMIT}", "limit of the container or job"),
               (f"{SYSTEM}{LIMITS[MACHINE_MEMORY]}", "installed"))),
    LoadChart("Disk read, MB/s", ((f"{SYSTEM}{DISK}", "Read", PURPLE),), 1e-6),
    LoadChart("Parts of a step, ms", tuple((name, title, COLOURS[name]) for name, title in PARTS.items()), 1000),
)  # fmt: skip
