"""A cache that machines share: worked on in a folder here, and published when a part is complete.

What is kept there can be made again, and is the same whoever makes it. So the last to publish wins,
and what cannot be fetched or published is said, and is no reason to fail.
"""

from pathlib import Path

from numerate.places import copy_folder, is_remote, local_path

STATES = "states"  # in the place of a version


def cache_here(cache: str | Path) -> Path:
    """The folder in which a cache is worked on."""
    return copy_folder(str(cache), STATES) if is_remote(cache) else local_path(cache)
