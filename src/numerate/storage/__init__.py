"""Places on any file system that fsspec knows, used like those of this machine.

What is read is mirrored in the cache, what is written is filled here and published whole. Nothing
of this is imported, and nothing done, for a path of this machine.
"""

from numerate.lazily import lazily

_HOMES = {
    "is_remote": "numerate.places",
    "filesystem": "numerate.storage.filesystems",
    "told": "numerate.storage.filesystems",
    "here": "numerate.storage.mirror",
    "published": "numerate.storage.publish",
    "write": "numerate.storage.publish",
}
__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
