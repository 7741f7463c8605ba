"""Does any damaged input crash a command, hang it, or make it grow?

    python benchmarks/fuzz.py [SOURCE …] [--inputs 10000] [--seed 1] [--kinds articles,archives]

One line that says what is wrong (a `NumerateError`) is the right answer to what cannot be read;
anything else that is raised is a crash, more than ten seconds of computing or a hundred of waiting
is a hang, and memory that is not given back is growth. SOURCE is a file, folder or archive of
articles to be damaged; without one, those of the tests. An input depends on the seed, its kind and
its number alone: `--from 4711 --inputs 1` makes one of them again. Exit status 1 if anything was
found; the input is then kept.
"""

import argparse
import faulthandler
import gc
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType

from fuzzing import KINDS
from fuzzing.kind import Kind, Setting

from numerate.errors import NumerateError

LIMIT = 10.0  # seconds of computing for one input, whatever else the machine does
WAITING = 100.0  # seconds, with all else
WARM = 0.2  # of the inputs of a kind, until caches and pools are filled
GROWTH = 100 << 20  # bytes after that


class HangError(BaseException):
    """No `except Exception` on the way may take it for something else."""


def _hang(signum: int, frame: FrameType | None) -> None:
    raise HangError(f"more than {LIMIT:g} s of computing or {WAITING:g} s of waiting")


def limit(computing: float, waiting: float) -> None:
    signal.setitimer(signal.ITIMER_PROF, computing)
    signal.setitimer(signal.ITIMER_REAL, waiting)


def resident() -> int:
    """Bytes of memory that this process has now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def receive(kind: Kind, folder: Path) -> str:
    """How one input was received; raises what should not happen."""
    try:
        return kind.use(folder)
    except NumerateError as error:
        if not str(error).isprintable():
            raise AssertionError(f"an error of several lines: {str(error)!r}") from error
        return "refused"


def attack(name: str, kind: Kind, numbers: range, seed: int, workspace: Path) -> int:
    """Feed a kind its inputs and print what came of them; how often something went wrong."""
    outcomes: Counter[str] = Counter()
    failures, slowest, warm = 0, (0.0, ""), 0
    for number in numbers:
        folder = Path(tempfile.mkdtemp(dir=workspace))
        what = kind.damage(random.Random(f"{seed} {name} {number}"), folder)
        began = time.process_time()
        limit(LIMIT, WAITING)
        try:
            outcome = receive(kind, folder)
        except (Exception, SystemExit, HangError) as error:
            limit(0, 0)
            outcome = "hang" if isinstance(error, HangError) else "crash"
            failures += 1
            kept = Path(tempfile.mkdtemp(prefix="fuzz-")) / "input"
            shutil.copytree(folder, kept, symlinks=True)
            told = f"{type(error).__name__}: {error}"
            print(f"{outcome}: {name} {number}: {what}: {told} (kept as {kept})")
        finally:
            limit(0, 0)
        outcomes[outcome] += 1
        slowest = max(slowest, (time.process_time() - began, f"{number}: {what}"))
        shutil.rmtree(folder, ignore_errors=True)
        if number == numbers[int(WARM * len(numbers))]:
            warm = resident()
    growth = resident() - warm
    counted = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{name}: {counted}; slowest {slowest[0]:.2f} s ({slowest[1]})")
    print(f"{name}: {growth / 2**20:+.1f} MiB since the first fifth")
    if growth > GROWTH:
        print(f"growth: {name}: expected at most {GROWTH >> 20} MiB")
        failures += 1
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path, metavar="SOURCE")
    parser.add_argument("--inputs", type=int, default=2000, help="of all kinds together")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"of {', '.join(KINDS)}")
    arguments = parser.parse_args()
    names = arguments.kinds.split(",")
    if unknown := set(names) - set(KINDS):
        parser.error(f"unknown kind {min(unknown)}: expected some of {', '.join(KINDS)}")
    faulthandler.enable()
    signal.signal(signal.SIGALRM, _hang)
    signal.signal(signal.SIGPROF, _hang)
    failures, total = 0, sum(KINDS[name].share for name in names)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as workspace:
        for name in names:
            count = max(1, round(arguments.inputs * KINDS[name].share / total))
            home = Path(workspace, name)
            home.mkdir()
            kind = KINDS[name](Setting(arguments.sources, home))
            numbers = range(arguments.first, arguments.first + count)
            failures += attack(name, kind, numbers, arguments.seed, Path(workspace))
    print(f"{failures} crashes, hangs and growths in about {arguments.inputs:,} damaged inputs")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
