"""Places on any file system that fsspec knows, used like those of this machine; and the walk over
folders (`trees.py`, `remote_trees.py`).

What is read is mirrored in the cache, what is written is filled here and published whole. For a
path of this machine nothing of this is done, and fsspec is not even imported.
"""

from numerate.places import is_remote
from numerate.storage.filesystems import filesystem, path_here, told
from numerate.storage.mirror import exists, file_here, files_in, here, read
from numerate.storage.publish import published, write
from numerate.storage.recorded import recorded

__all__ = [
    "exists",
    "file_here",
    "files_in",
    "filesystem",
    "here",
    "is_remote",
    "path_here",
    "published",
    "read",
    "recorded",
    "told",
    "write",
]
