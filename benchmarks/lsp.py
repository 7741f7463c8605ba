"""How long after an edit does the editor show what is wrong? `numerate lsp`, cold and warm.

    python benchmarks/lsp.py [DOCUMENT…] [--edits 40] [--seed 1]

DOCUMENT is anything that `numerate check` reads; it is opened as Markdown, with its tables. Cold: a
server is started and the document opened, until there are findings of rules, and of all. Warm: one
digit or word of a paragraph, taken at random, is changed, and the time until what is found in the
new text is shown: all findings with their probabilities (what was expected instead of what a
language model finds odd comes a moment later, and is counted apart). The next edit waits until
then. The server's processor time is what it would take on a machine that does nothing else, where
the system tells it. Where the 95th percentile of warm edits is above 200 ms, the exit status is 1.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import numpy as np

from numerate.documents import read_file
from numerate.documents.document import Document, Table

LIMIT = 0.2  # seconds, 95th percentile
QUIET = 1.0  # seconds without a word, after which nothing more is expected
URI = "file:///benchmark/document.md"


def as_markdown(document: Document) -> list[str]:
    """Paragraphs, which name their tables, and then the tables."""
    names = {table.id: f"Table {number}" for number, table in enumerate(document.tables, 1)}
    blocks = []
    for paragraph in document.paragraphs:
        seen = [names[one] for one in paragraph.tables if one in names]
        missing = [name for name in seen if name not in paragraph.text]
        blocks.append(paragraph.text + (f" ({', '.join(missing)})" if missing else ""))
    for table in document.tables:
        rows = [*table.header, *table.body]
        if rows:
            blocks += [f"{names[table.id]}. {table.caption}", _pipes(table, rows)]
    return blocks


def _pipes(table: Table, rows: list[list[str]]) -> str:
    width = max(map(len, rows))
    lines = []
    for row in rows:
        cells = [cell.replace("|", "/") for cell in row] + [""] * (width - len(row))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])


class Server:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "numerate", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._shown: Queue[tuple[float, int, float]] = Queue()  # when, of which version, and so far
        Thread(target=self._listen, daemon=True).start()
        self._send({"id": 1, "method": "initialize", "params": {"capabilities": {}}})
        self._send({"method": "initialized", "params": {}})

    def open(self, text: str) -> None:
        item = {"uri": URI, "languageId": "markdown", "version": 0, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": item}})

    def change(self, text: str, version: int) -> None:
        params = {
            "textDocument": {"uri": URI, "version": version},
            "contentChanges": [{"text": text}],
        }
        self._send({"method": "textDocument/didChange", "params": params})

    def shown(self, version: int, *, quiet: float) -> list[tuple[float, float]]:
        """When anything was shown of a version, and the processor time by then, until all is
        quiet."""
        found: list[tuple[float, float]] = []
        while True:
            try:
                at, of, computed = self._shown.get(timeout=quiet if found else 600)
            except Empty:
                return found
            if of == version:
                found.append((at, computed))

    def processor_time(self) -> float:
        """Seconds that it has computed so far, in steps of hundredths; nan: nobody knows."""
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:
            return float("nan")
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def leave(self) -> None:
        self._send({"id": 2, "method": "shutdown"})
        self._send({"method": "exit"})
        self._process.wait(60)

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while header := stream.readline():
            size = int(header.split(b":")[1]) if b"ength" in header else 0
            while header.strip():
                header = stream.readline()
                size = int(header.split(b":")[1]) if b"ength" in header else size
            message = json.loads(stream.read(size))
            if message.get("method") == "textDocument/publishDiagnostics":
                version = message["params"].get("version", -1)
                self._shown.put((time.perf_counter(), version, self.processor_time()))


def edited(text: str, chance: random.Random) -> str:
    """Another digit, or another word."""
    places = [found.start() for found in re.finditer(r"\d" if chance.random() < 0.5 else " ", text)]
    at = chance.choice(places or [len(text)])
    if text[at : at + 1].isdigit():
        return text[:at] + chance.choice("123456789") + text[at + 1 :]
    return f"{text[:at]} rather{text[at:]}"


def measure(blocks: list[str], edits: int, seed: int) -> tuple[list[float], list[float]]:
    """Of each warm edit: the time, and that of the processor."""
    chance = random.Random(seed)
    start = time.perf_counter()
    server = Server()
    server.open("\n\n".join(blocks))
    cold = [at - start for at, _ in server.shown(0, quiet=30)]
    prose = [at for at, block in enumerate(blocks) if len(block) > 200 and block[0] != "|"]
    warm, whole, processor = [], [], []
    for version in range(1, edits + 1):
        at = chance.choice(prose)
        blocks[at] = edited(blocks[at], chance)
        text = "\n\n".join(blocks)
        start, computed = time.perf_counter(), server.processor_time()
        server.change(text, version)
        times = server.shown(version, quiet=QUIET)
        warm.append(times[0][0] - start)
        processor.append(times[0][1] - computed)
        whole.append(times[-1][0] - start)
    server.leave()
    print(
        f"  cold: rules after {cold[0]:.1f} s, all after {cold[min(1, len(cold) - 1)]:.1f} s\n"
        f"  warm, {edits} edits: {in_words(warm)}\n"
        f"  of the processor: {in_words(processor)}\n"
        f"  with what was expected instead: {in_words(whole)}",
        flush=True,
    )
    return warm, processor


def in_words(times: list[float]) -> str:
    median, late, worst = 1000 * np.quantile(times, [0.5, 0.95, 1.0])
    return f"median {median:.0f} ms, 95 % within {late:.0f} ms, longest {worst:.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", nargs="*", default=["examples/article.md"])
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    warm: list[float] = []
    processor: list[float] = []
    for name in arguments.documents:
        blocks = [block for one in read_file(name) for block in as_markdown(one)]
        print(f"{Path(name).name}: {sum(map(len, blocks)):,} characters, {len(blocks)} blocks")
        times, computed = measure(blocks, arguments.edits, arguments.seed)
        warm += times
        processor += computed
    print(f"all {len(warm)} edits: {in_words(warm)}; of the processor: {in_words(processor)}")
    return 0 if np.quantile(warm, 0.95) <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
