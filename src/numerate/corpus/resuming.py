"""What a prepare on a cluster has done, kept beside its target until it has succeeded.

The folder has a hidden name, `.NAME.staged` for a dataset NAME, and no manifest, so that it is
taken for no dataset. It is for one job: the same source with the same options, read by the same
version of this package. For any other it is emptied.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from uuid import uuid4

from numerate.corpus.shared_folder import SharedFolder
from numerate.corpus.staging import Staging
from numerate.notices import say
from numerate.places import is_remote, local_path

_JOB = "job.json"


@contextmanager
def resumable(out: str | Path, job: str) -> Iterator[tuple[Staging, str]]:
    """Staging that outlives this process, and the name of a file there that workers look for.

    Only under the lock of the target: nobody else is at work there.
    """
    folder = SharedFolder(_beside(out), lasting=True)
    staging = Staging(folder)
    if folder.read(_JOB) != _described(job):
        if staging.finished():
            say(f"{folder.place}: of another source, other options or another version; begun anew")
        folder.clear()
        folder.make()
        folder.write(_JOB, _described(job))
    token = f"token-{uuid4().hex}"
    folder.write(token, b"")
    try:
        yield staging, token
    except BaseException:
        folder.remove(token)
        if finished := len(staging.finished()):
            kept = f"keeps {finished:,} finished blocks"
            say(f"{folder.place}: {kept}; the same command goes on from there")
        else:
            folder.clear()
        raise


def discard(out: str | Path) -> None:
    """What was kept is of no use once there is a dataset."""
    SharedFolder(_beside(out)).clear()


def _beside(out: str | Path) -> str | Path:
    if is_remote(out):
        address = PurePosixPath(str(out).rstrip("/")).name
        return str(out).rstrip("/").removesuffix(address) + f".{address}.staged"
    place = local_path(out).resolve()
    return place.with_name(f".{place.name}.staged")


def _described(job: str) -> bytes:
    return json.dumps({"job": job}).encode()
