"""A file system elsewhere, in truth this disk's: its folders must be made, and its files are there
from their first byte on, as those of SFTP and HDFS."""

from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem


class Disk(LocalFileSystem):
    protocol = "disk"
    is_cut = False  # the connection is lost while a file is written
    renames_over = True  # as SFTP; HDFS refuses where something is

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("disk://")))

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        super().pipe_file(path, value[:1] if Disk.is_cut else value, **options)
        if Disk.is_cut:
            raise OSError("the connection was lost")

    def mv(self, old: str, new: str, **options: Any) -> None:
        if not Disk.renames_over and self.exists(new):
            raise OSError("rename failed")
        super().mv(old, new, **options)


fsspec.register_implementation("disk", Disk, clobber=True)
