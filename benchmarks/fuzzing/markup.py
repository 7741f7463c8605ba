"""Damaged LaTeX, Markdown and notebooks, checked: signs that open or close where none are due."""

import random
from pathlib import Path

import numerate
from fuzzing.articles import (
    MUTATIONS,
    damaged,
    delete_span,
    duplicate_span,
    flip_bytes,
    truncate,
)
from fuzzing.kind import Setting

DATA = Path(__file__).parents[2] / "tests" / "data"
SUFFIXES = {".tex", ".md", ".qmd", ".ipynb"}
_SIGNS = (
    b"{", b"}", b"$", b"\\", b"%", b"&", b"\\\\", b"|", b"\n\n", b"`", b"<table>", b"</td>", b"*",
    b"[", b"]", b"#1", b"^", b"_", b"\\end{table}", b"\\begin{tabular}{ll}", b"\\begin{table}",
    b"\\multirow{3}{*}{", b"\\def\\x{\\x}", b"\\iffalse", b"---\n", b"```", b"<!--", b'"', b",",
)  # fmt: skip


class Markup:
    share = 1.0

    def __init__(self, setting: Setting) -> None:
        given = [path for path in setting.sources if path.suffix in SUFFIXES]
        found = given or [path for path in DATA.rglob("*") if path.suffix in SUFFIXES]
        self._files = {path.name: path.read_bytes() for path in sorted(found)}

    def damage(self, chance: random.Random, folder: Path) -> str:
        name = chance.choice(sorted(self._files))
        kinds = (put_signs, flip_bytes, delete_span, duplicate_span, truncate, *MUTATIONS)
        data, how = damaged(self._files[name], chance, kinds)
        (folder / name).write_bytes(data)
        return f"{name} after {how}"

    def use(self, folder: Path) -> str:
        [path] = folder.iterdir()
        numerate.check(path)
        return "read"


def put_signs(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 10)):
        at = chance.randrange(len(data) + 1)
        data[at:at] = chance.choice(_SIGNS)
