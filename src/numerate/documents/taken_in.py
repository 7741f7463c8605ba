"""Files that others take in: part of those, and no documents of their own."""

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

File = TypeVar("File", bound=Hashable)


def taken_in(parts: Mapping[File, Collection[File]]) -> set[File]:
    """Those that are in another that is kept, given what each takes in, however deep. Of files that
    take each other in, the first is kept."""
    inside = {part for file, some in parts.items() for part in some if part != file}
    found: set[File] = set()
    for file in sorted(parts, key=inside.__contains__):
        if file not in found:
            found.update(part for part in parts[file] if part != file)
    return found
