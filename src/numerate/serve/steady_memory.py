"""Free memory goes back to the system, so that a server stays as large as what it does.

Threads that compute with arrays of all sizes leave the C library's heaps full of holes, which it
keeps. So there is one heap for all threads, larger arrays come from the system and go back to it,
and the holes of small ones are given back now and then. Of two workers that had 1.2 GB after a
minute and up to 1.5 later, each keeps to what it had; the server answers an eighth fewer requests.

And torch's library for processors, oneDNN, keeps what it has compiled for each shape of arrays, a
thousand of them by default, though texts are of all lengths and few come twice.
"""

import ctypes
import os
import threading
import time

EVERY = 5.0  # seconds
LARGE = 256 << 10  # bytes
SHAPES = 32  # for which oneDNN keeps its programs: those of one text
_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # of mallopt


def keep_memory_steady() -> None:
    """Call it before anything is computed, and while there are no threads that compute."""
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(SHAPES))
    try:
        library = ctypes.CDLL(None)
    except OSError:
        return
    if hasattr(library, "malloc_trim") and hasattr(library, "mallopt"):  # GNU's
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, LARGE)
        threading.Thread(target=_tidy, args=(library,), daemon=True).start()


def _tidy(library: ctypes.CDLL) -> None:
    while True:
        time.sleep(EVERY)
        library.malloc_trim(0)
