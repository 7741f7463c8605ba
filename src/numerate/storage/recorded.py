"""Addresses that a file names: followed only to where you have sent numerate yourself.

A run, a dataset or a report may come from a stranger, and says where other things lie. An address
in it could make this machine ask any server, with your credentials. So an address in a folder is
opened only if you named the folder itself by an address of the same file system and host or
bucket. Paths of this machine are not addresses, and are opened as they stand.
"""

from pathlib import Path

from numerate.errors import RunError
from numerate.places import origin, place_of


def recorded(place: str, folder: str | Path, instead: str) -> str:
    """Return a place that a file in a folder names, or refuse it and say what to do `instead`."""
    named = origin(place)
    if named is None or named == origin(place_of(folder) or folder):
        return place
    raise RunError(
        f"{folder}: names {place}, an address that is opened only if you name it: {instead}"
    )
