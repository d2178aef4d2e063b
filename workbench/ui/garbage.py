"""When Python looks for unreachable objects: a look at all of them stops every thread, the window's, too.

While the engine is loaded there are some 450,000 objects, and a look at them took up to 0.7 s on a busy machine.
"""

import atexit
import gc

USUAL = gc.get_threshold()
NEVER = 1_000_000  # looks at young objects between two looks at all


def put_off() -> None:
    """From now on look at young objects only, until `settle`."""
    gc.set_threshold(USUAL[0], USUAL[1], NEVER)


def settle() -> None:
    """What lives now lives as long as the program: later looks leave it out and are short."""
    gc.freeze()
    atexit.register(gc.unfreeze)  # else libraries report at the end what was never freed
    gc.set_threshold(*USUAL)
