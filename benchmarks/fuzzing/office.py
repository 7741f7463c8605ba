"""Damaged documents of Office, checked: whole archives, or the XML of a part of one."""

import random
import zipfile
from io import BytesIO
from pathlib import Path

import numerate
from fuzzing.articles import MUTATIONS, Mutation
from fuzzing.kind import Setting

DATA = Path(__file__).parents[2] / "tests" / "data"
KINDS = (".docx", ".xlsx", ".odt")
PART = 0.8  # of the inputs: a part is damaged, and not the archive around it


class Office:
    share = 1.0

    def __init__(self, setting: Setting) -> None:
        given = [path for path in setting.sources if path.suffix in KINDS]
        files = given or [path for kind in KINDS for path in DATA.rglob(f"*{kind}")]
        self._files = {path.name: path.read_bytes() for path in sorted(files)}

    def damage(self, chance: random.Random, folder: Path) -> str:
        name = chance.choice(sorted(self._files))
        chosen = chance.choices(MUTATIONS, k=chance.randint(1, 4))
        if chance.random() < PART:
            data, part = _with_damaged_part(self._files[name], chosen, chance)
        else:
            data, part = bytearray(self._files[name]), "archive"
            for mutate in chosen:
                mutate(data, chance)
        (folder / name).write_bytes(data)
        return f"{part} of {name} after {', '.join(mutate.__name__ for mutate in chosen)}"

    def use(self, folder: Path) -> str:
        [path] = folder.iterdir()
        numerate.check(path)
        return "read"


def _with_damaged_part(
    package: bytes, chosen: list[Mutation], chance: random.Random
) -> tuple[bytearray, str]:
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(package)) as old, zipfile.ZipFile(made, "w") as new:
        parts = {name: bytearray(old.read(name)) for name in old.namelist()}
        names = sorted(parts)
        [damaged] = chance.choices(names, weights=[len(parts[name]) for name in names])
        for mutate in chosen:
            if parts[damaged]:
                mutate(parts[damaged], chance)
        for name, data in parts.items():
            new.writestr(name, bytes(data), zipfile.ZIP_DEFLATED)
    return bytearray(made.getvalue()), damaged
