"""Damaged tables of every kind that people bring, read as columns."""

import random
from pathlib import Path

from fuzzing.articles import damaged
from fuzzing.kind import Setting
from numerate.documents.table_file import read_tables
from numerate.text.table_numbers import columns_of_texts, numbers_of

FILES = {
    "ages.csv": 'Group,"Age, years",n\nPlacebo,49 (19–87),"1,204"\nDrug,51 ± 3*,48\n' * 20,
    "ages.tsv": "Group\tAge\tn\nPlacebo\t49 (19–87)\t1,204\nDrug\t51 ± 3*\t48\n" * 20,
    "ages.md": "Table 1. Ages\n\n| Group | Age |\n|:--|--:|\n| **A** | 49<sup>a</sup> |\n" * 20,
    "ages.html": "<table><caption>Table 1. Ages</caption><thead><tr><th rowspan='2'>Group</th>"
    "<th colspan='2'>Age (n = 5)</th></tr></thead><tr><td>all</td><td>3 <sup>1</sup></td>"
    "<td><table><tr><td>4</td></tr></table></td></tr></table>" * 20,
}


class TableFiles:
    share = 0.5

    def __init__(self, setting: Setting) -> None:
        pass

    def damage(self, chance: random.Random, folder: Path) -> str:
        name = chance.choice(sorted(FILES))
        written = FILES[name].encode(chance.choice(("utf-8", "utf-8", "utf-16")))
        data, how = damaged(written, chance)
        (folder / name).write_bytes(data)
        return f"{name} after {how}"

    def use(self, folder: Path) -> str:
        [path] = folder.iterdir()
        tables = read_tables(path)
        columns_of_texts([tables])
        for table in tables:
            numbers_of(table)
        return "read"
