"""What a prepare on a cluster has done, kept beside its target until it has succeeded.

The folder has a hidden name, `.NAME.staged` for a dataset NAME, and no manifest, so that it is
taken for no dataset. In it every job has a folder of its own: the same source with the same
options, read by the same version of this package.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from uuid import uuid4

from numerate.corpus.staging import Staging
from numerate.errors import NumerateError
from numerate.notices import say
from numerate.places import is_remote, join, local_path
from numerate.storage.shared_folder import SharedFolder


@contextmanager
def resumable(out: str | Path, job: str) -> Iterator[tuple[Staging, str]]:
    """Staging that outlives this process, and the name of a file there that workers look for.

    Only under the lock of the target: nobody else is at work there.
    """
    jobs = SharedFolder(_beside(out))
    if set(jobs.names()) - {job}:
        other = "holds blocks of another source, other options or another version"
        say(f"{jobs.place}: {other}, which stay until there is a dataset")
    folder = SharedFolder(join(jobs.place, job), lasting=True)
    folder.make()
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
    staging.folder.clear()
    if not jobs.names():
        jobs.clear()


def discard(out: str | Path) -> None:
    """What was kept is of no use once there is a dataset; nor is it a reason to fail. Where another
    process has begun to write there, it is for that one."""
    jobs = SharedFolder(_beside(out))
    with suppress(NumerateError):
        if jobs.names():
            with SharedFolder.at(out).held():
                jobs.clear()


def _beside(out: str | Path) -> str | Path:
    if is_remote(out):
        address = PurePosixPath(str(out).rstrip("/")).name
        return str(out).rstrip("/").removesuffix(address) + f".{address}.staged"
    place = local_path(out).resolve()
    return place.with_name(f".{place.name}.staged")
