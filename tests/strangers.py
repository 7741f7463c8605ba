"""Files of other people, put where a command writes: none of their bytes may go."""

from pathlib import Path


def bytes_below(folder: Path) -> dict[str, bytes]:
    """The content of all files in a folder and those in it, by name; of a link, of its target."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
