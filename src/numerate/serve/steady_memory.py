"""Memory that is free goes back to the system, so that a server stays as large as what it does.

Threads that compute with arrays of all sizes leave the C library's heaps full of holes, which it
keeps, the more the longer it runs. So there is one heap for all threads, larger arrays are not on
it but come from the system and go back to it, and the holes of small ones are given back now and
then. Of two workers that had 1.2 GB after a minute and up to 1.5 later, each keeps to what it had;
an eighth of the requests that can be answered in a time is the price.

And torch's library for processors, oneDNN, keeps what it has compiled for each shape of arrays, a
thousand of them by default, though texts are of all lengths and few come twice.
"""

import asyncio
import ctypes
import os
from functools import cache

EVERY = 5.0  # seconds
LARGE = 256 << 10  # bytes
SHAPES = 32  # for which oneDNN keeps its programs: those of one text
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # of mallopt


def keep_heap_small() -> None:
    """Before anything is computed, and there are any threads: they keep the heaps they have."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(SHAPES))
    library = _library()
    if library is not None:
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, LARGE)


async def keep_memory_steady() -> None:
    """Until it is cancelled."""
    library = _library()
    while library is not None:
        await asyncio.sleep(EVERY)
        await asyncio.to_thread(library.malloc_trim, 0)


@cache
def _library() -> ctypes.CDLL | None:
    """GNU's C library; None with another."""
    try:
        library = ctypes.CDLL(None)
    except OSError:
        return None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
