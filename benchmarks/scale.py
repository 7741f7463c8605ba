"""Whether time and memory of `prepare` and `audit` grow with the corpus as they should.

    python benchmarks/scale.py ARTICLES --documents 50 --times 1 4 16 --processes 1 2

makes corpora of 1, 4 and 16 times so many articles of a folder, each copy with identifiers and
words of its own, and runs both commands over each: locally on so many processes, and through Ray.
It prints the seconds, of the clock and of processors, of a document and of one that was added to
the corpus before, which leaves out what it takes to start; the most memory of its own that the
driver held, and its largest worker; how these grew, and what Ray costs beside the local engine. On
a machine that others use, only the seconds of processors mean anything.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

EVERY = 0.1  # seconds between looks at the processes
ENGINES = ("local", "ray")
Way = tuple[str, str, int]  # command, engine, processes
TICKS = os.sysconf("SC_CLK_TCK")
_IDENTIFIER = re.compile(rb'(pub-id-type="(?:pmc|pmcid|pmid|doi|publisher-id)">)')
_PARAGRAPH = re.compile(rb"<p(?: [^>]*)?>")
_OWN = re.compile(r"^RssAnon:\s+([0-9]+) kB", re.MULTILINE)


def copied(article: bytes, number: int) -> bytes:
    """The same numbers in other words: every paragraph begins with one that names the copy."""
    if not number:
        return article
    word = "".join(chr(ord("a") + int(digit)) for digit in str(number)).encode()
    article = _IDENTIFIER.sub(rb"\g<1>" + word, article)
    return _PARAGRAPH.sub(rb"\g<0>As copy %s has it: " % word, article)


def write_corpus(articles: list[Path], folder: Path, times: int) -> None:
    folder.mkdir()
    for number in range(times):
        for article in articles:
            (folder / f"{number:03}-{article.name}").write_bytes(
                copied(article.read_bytes(), number)
            )


@dataclass
class Cost:
    """Of a process and all that come from it."""

    seconds: float = 0.0
    computed: dict[int, float] = field(default_factory=dict)  # seconds of processors, by process
    documents: int = 0
    driver: int = 0  # MiB at most
    worker: int = 0  # of the largest

    @property
    def processors(self) -> float:
        return sum(self.computed.values())

    def look(self, process: int) -> None:
        for one in [process, *below(process)]:
            try:
                stat = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
                status = Path(f"/proc/{one}/status").read_text()
                command = Path(f"/proc/{one}/cmdline").read_text()
            except OSError:  # gone meanwhile
                continue
            self.computed[one] = (int(stat[11]) + int(stat[12])) / TICKS
            # Of its own: what it has mapped of files is the system's to take back.
            found = _OWN.search(status)
            held = int(found[1]) >> 10 if found else 0
            if one == process:
                self.driver = max(self.driver, held)
            elif "spawn_main" in command or command.startswith("ray::"):
                self.worker = max(self.worker, held)


def below(process: int) -> list[int]:
    found = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            direct = list(map(int, children.read_text().split()))
        except OSError:
            continue
        found += [one for child in direct for one in [child, *below(child)]]
    return found


def run(arguments: list[str]) -> Cost:
    cost, start = Cost(), time.monotonic()
    command = [sys.executable, "-m", "numerate", "-q", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            cost.look(process.pid)
            time.sleep(EVERY)
    if process.returncode:
        sys.exit(f"numerate {' '.join(arguments)}: exit status {process.returncode}")
    cost.seconds = time.monotonic() - start
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Plain)
    parser.add_argument("articles", type=Path, help="a folder of JATS articles")
    parser.add_argument("--documents", type=int, default=50, help="of the smallest corpus")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--commands", nargs="+", default=["prepare", "audit"])
    parser.add_argument("--model", default="none", help="of the audit")
    options = parser.parse_args()
    articles = sorted(path for path in options.articles.iterdir() if path.is_file())
    articles = articles[: options.documents]
    print("command engine processes documents: seconds (of processors) a document, an added one")
    with tempfile.TemporaryDirectory(prefix="numerate-scale-") as temporary:
        work, known = Path(temporary), dict[Way, list[Cost]]()
        for times in sorted(options.times):
            write_corpus(articles, work / "corpus", times)
            for way in product(options.commands, options.engines, options.processes):
                command, engine, processes = way
                arguments = [command, str(work / "corpus"), "--out", str(work / "out")]
                arguments += ["--processes", str(processes), "--engine", engine]
                arguments += ["--model", options.model] if command == "audit" else []
                cost = run(arguments)
                cost.documents = times * len(articles)
                shutil.rmtree(work / "out")
                known.setdefault(way, []).append(cost)
                print(f"{command:7} {engine:6} {processes:9} {row(known[way])}", flush=True)
            shutil.rmtree(work / "corpus")
    for way, costs in known.items():
        if len(costs) > 2:
            print(*way, growth(costs))
    for command, processes in product(options.commands, options.processes):
        here, by_ray = (known.get((command, engine, processes), []) for engine in ENGINES)
        if len(here) > 1 and len(by_ray) > 1:
            clock, computed = (
                after / before for before, after in zip(added(here), added(by_ray), strict=True)
            )
            print(
                f"{command} on {processes}: Ray takes {clock:.2f} of the local time, and "
                f"{computed:.2f} of the seconds of processors, for a document that is added"
            )


def added(costs: list[Cost]) -> tuple[float, float]:
    """Seconds of a document that the last corpus has and the one before has not."""
    last, before = costs[-1], costs[-2] if len(costs) > 1 else Cost()
    count = last.documents - before.documents
    return (last.seconds - before.seconds) / count, (last.processors - before.processors) / count


def row(costs: list[Cost]) -> str:
    last = costs[-1]
    each, computed = last.seconds / last.documents, last.processors / last.documents
    clock, of_processors = added(costs)
    return (
        f"{last.documents:9}: {each:7.3f} ({computed:.3f}) {clock:7.3f} ({of_processors:.3f}), "
        f"driver {last.driver} MiB, worker {last.worker} MiB"
    )


def growth(costs: list[Cost]) -> str:
    """Of the last corpus against the one before: 1.00 where time is linear and memory flat."""
    clock, computed = (
        after / before for before, after in zip(added(costs[:-1]), added(costs), strict=True)
    )
    last, before = costs[-1], costs[-2]
    worker = last.worker / before.worker if before.worker else 1.0
    return (
        f"{before.documents} to {last.documents} documents: time of an added one {clock:.2f}, of "
        f"processors {computed:.2f}, memory of the driver {last.driver / before.driver:.2f}, of a "
        f"worker {worker:.2f}"
    )


class _Plain(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    pass


if __name__ == "__main__":
    main()
