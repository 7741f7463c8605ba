"""What a prepare on a cluster has done, kept beside its target until it has succeeded.

The folder has a hidden name, `.NAME.staged` for a dataset NAME, and no manifest, so that it is
taken for no dataset. In it every job has a folder of its own: the same source with the same
options, read by the same version of this package. By the record in it, a job's folder is known to
be ours.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from uuid import uuid4

from numerate.errors import NumerateError
from numerate.lm.data.staging import BLOCK, Staging
from numerate.places import is_remote, join, local_path
from numerate.reports.notices import say
from numerate.storage.folder_kind import FolderKind, written_as
from numerate.storage.shared_folder import SharedFolder

RECORD = "staged.json"
STAGED = FolderKind(
    "staged blocks",
    RECORD,
    lambda _: None,  # the folder is gone on with, so `_is_ours` reads its record
    rf"{re.escape(RECORD)}|{BLOCK}|token-[0-9a-f]{{32}}",
)
_JOB = re.compile(r"[0-9a-f]{16}")  # how `prepare` calls a job
_ABOUT = {"format": "numerate staged blocks", "version": 1}


@contextmanager
def resumable(out: str | Path, job: str) -> Iterator[tuple[Staging, str]]:
    """Staging that outlives this process, and the name of a file there that workers look for.

    Only under the lock of the target: nobody else is at work there.
    """
    jobs = SharedFolder(_beside(out))
    if set(filter(_JOB.fullmatch, jobs.names())) - {job}:
        other = "holds blocks of another source, other options or another version"
        say(f"{jobs.place}: {other}, which stay until there is a dataset")
    folder = SharedFolder(join(jobs.place, job), lasting=True)
    folder.check_own(STAGED)
    if not all(map(written_as, folder.names())) and not _is_ours(folder):
        raise NumerateError(f"{folder.place}: has no {RECORD}; remove it or choose another folder")
    folder.make()
    folder.write(RECORD, json.dumps(_ABOUT).encode())
    token = f"token-{uuid4().hex}"
    folder.write(token, b"")
    staging = Staging(folder)
    try:
        yield staging, token
    except BaseException:
        with suppress(NumerateError):  # what is the matter is told by what was raised
            _leave(staging, token, jobs)
        raise


def _leave(staging: Staging, token: str, jobs: SharedFolder) -> None:
    staging.folder.remove(token)
    if finished := len(staging.finished()):
        kept = f"keeps {finished:,} finished blocks"
        say(f"{jobs.place}: {kept}; the same command goes on from there")
        return
    _remove(staging.folder)
    jobs.remove_if_empty()


def discard(out: str | Path) -> None:
    """Remove what was kept, now that there is a dataset; it is no reason to fail.

    Where another process has begun to write, what was kept is for that one. Only folders with our
    record are touched, and in them only files with our names.
    """
    jobs = SharedFolder(_beside(out))
    with suppress(NumerateError):
        if jobs.names():
            with SharedFolder.at(out).held():
                for name in filter(_JOB.fullmatch, jobs.names()):
                    folder = SharedFolder(join(jobs.place, name))
                    if _is_ours(folder):
                        _remove(folder)
                jobs.remove_if_empty()


def _is_ours(folder: SharedFolder) -> bool:
    if RECORD not in folder.own(STAGED):
        return False
    try:
        return bool(json.loads(folder.read(RECORD) or b"") == _ABOUT)
    except ValueError:
        return False


def _remove(folder: SharedFolder) -> None:
    """The record goes last: until then the folder is known to be ours."""
    for name in sorted(folder.own(STAGED), key=lambda name: name == RECORD):
        folder.remove(name)
    folder.remove_if_empty()


def _beside(out: str | Path) -> str | Path:
    if is_remote(out):
        address = PurePosixPath(str(out).rstrip("/")).name
        return str(out).rstrip("/").removesuffix(address) + f".{address}.staged"
    place = local_path(out).resolve()
    return place.with_name(f".{place.name}.staged")
