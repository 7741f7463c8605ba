"""How long does `numerate prepare` take, and how much memory does its largest process need?

    python benchmarks/prepare.py ARCHIVE [ARCHIVE …]

Each tar archive is prepared whole, then the first half of its files alone. The peak is that
of the largest process, parent or worker; a program that streams needs about as much for the
half as for the whole, and the printed ratio says how much more the whole took.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    seconds: float
    peak: float  # MB, of the largest process
    documents: int
    paragraphs: int


def measure(source: Path, out: Path, processes: int) -> Measured:
    command = [sys.executable, "-m", "numerate", "prepare", str(source), "--out", str(out)]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "--processes", str(processes)])
    # The usage of a process that is waited for includes the largest of its own children.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    paragraphs = sum(split["paragraphs"] for split in manifest["splits"].values())
    documents = manifest["counts"]["documents_read"]
    return Measured(seconds, usage.ru_maxrss * 1024 / 1e6, documents, paragraphs)


def write_half(archive: Path, half: Path) -> None:
    """The first half of the files, compressed lightly: the time of the half is not of interest."""
    with tarfile.open(archive) as whole, tarfile.open(half, "w:xz", preset=0) as target:
        files = [member for member in whole if member.isfile()]
        for member in files[: len(files) // 2]:
            target.addfile(member, whole.extractfile(member))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archives", nargs="+", type=Path, metavar="ARCHIVE")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    for archive in arguments.archives:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            whole = measure(archive, folder / "whole", arguments.processes)
            write_half(archive, folder / "half.tar.xz")
            half = measure(folder / "half.tar.xz", folder / "half", arguments.processes)
        print(f"{archive.name}, {arguments.processes} processes")
        for label, measured in (("half", half), ("whole", whole)):
            print(
                f"  {label:5} {measured.documents:7,} documents {measured.paragraphs:8,} paragraphs"
                f" {measured.seconds:7.1f} s   peak {measured.peak:5.0f} MB",
            )
        print(f"  peak of the whole over that of the half: {whole.peak / half.peak:.2f}")


if __name__ == "__main__":
    main()
