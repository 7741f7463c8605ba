"""Imports point one way, so that every part can be read without the parts built on it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import numerate
from numerate.plugins import HEADS, own_names

SOURCE = Path(numerate.__file__).parent
MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))

# The rooms, each of which imports only its own row and the rows above it. A module that stands
# before or after the rest of its room is named by itself.
LAYERS: list[set[str]] = [
    {"__init__", "lm", "errors", "lazy", "numeral", "places", "plugins", "threads"},
    {"reports"},
    {"storage"},
    {"config", "engines"},
    {"documents"},
    {"text"},
    {"rules"},
    {"lm.model.shipped"},
    {"lm.data"},
    {"lm.model.run_contents", "lm.model.run_folder", "lm.model.run_reference", "lm.perplexity"},
    {"lm.backbones.spelling"},
    {"lm.heads"},
    {"lm.backbones"},
    {"detector.slips"},
    {"lm.model"},
    {"detector"},
    {"lm.train"},
    {"proofread", "lm.model.shipped.pack"},
    {"lm.evaluate"},
    {"lm.inspect"},
    {"comparison", "lm.reproduce", "serve"},
    {"cli", "__main__"},
]
LEVEL = {part: level for level, layer in enumerate(LAYERS) for part in layer}

# The laboratory rooms that each room of the core still imports. No entry may be added.
INTO_THE_LABORATORY = {
    "cli": {
        "lm.backbones", "lm.data", "lm.evaluate", "lm.heads", "lm.inspect", "lm.model",
        "lm.reproduce", "lm.train",
    },
    "detector": {"lm.data", "lm.model"},
    "proofread": {"lm.backbones", "lm.model"},
    "serve": {"lm.backbones", "lm.model"},
}  # fmt: skip


def part_of(module: str) -> str:
    """The room of a module, or the module itself if it has a row of its own."""
    names = module.split(".")
    parts = [".".join(names[:count]) for count in range(len(names), 0, -1)]
    return next((part for part in parts if part in LEVEL), parts[-1] or "__init__")


def imports(path: Path) -> Iterator[str]:
    """Modules of the package that a file imports, anywhere in it, without the package's name.

    The front door, `numerate/__init__.py`, leads everywhere, but opens nothing by itself: only
    what it imports outside functions counts.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if path == SOURCE / "__init__.py" else ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "numerate":  # `from numerate import corpus` imports a module
                names = [f"numerate.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "numerate":
                inner = name.partition(".")[2]
                is_module = any(
                    (SOURCE / inner.replace(".", "/")).with_suffix(suffix).exists()
                    for suffix in ("", ".py")
                )
                yield inner if is_module else ""


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    part = part_of(module.removesuffix(".py").replace("/", "."))
    assert part in LEVEL, f"{part} has no place in the layers: give it one here and in docs/"
    for imported in imports(SOURCE / module):
        allowed = LEVEL[part_of(imported)] <= LEVEL[part]
        assert allowed, f"{module} imports numerate.{imported}, which is built on top of it"


def test_parts_of_one_layer_do_not_lean_on_each_other_both_ways() -> None:
    uses = {
        (part_of(module.removesuffix(".py").replace("/", ".")), part_of(imported))
        for module in MODULES
        for imported in imports(SOURCE / module)
    }
    assert [(a, b) for a, b in sorted(uses) if a < b and (b, a) in uses] == []


NAMED = {
    "cli/learning.py": {"combination"},  # what is trained unless told
    "comparison/ways.py": {"flow"},  # an operation
    "documents/latex/quantities.py": {"lm"},  # lumen
    "lm/train/run.py": {"combination"},
    "text/operations.py": {"flow"},
    "lm/model/opening.py": {"lm"},  # what a pretrained model as it comes is called
    "lm/reproduce/suites.py": {"combination", "grounded", "lm"},  # what is compared with what
}


def test_no_name_of_a_head_decides_anything() -> None:
    """Heads say of themselves what others must know, so that those of other packages can too."""
    names, found = set(own_names(HEADS)), {}
    for module in MODULES:
        tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
        nodes = list(ast.walk(tree))
        docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
        texts = {
            node.value
            for node in nodes
            if isinstance(node, ast.Constant) and node not in docstrings
        }
        if named := names & texts:
            found[module] = named
    assert found == NAMED


CLIENTS = {"aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "urllib3", "xmlrpc"}
PROGRAMS = {"code", "marshal", "pickle", "pty", "runpy", "shelve", "subprocess"}


def test_nothing_is_fetched_and_nothing_foreign_is_executed() -> None:
    """`reproduce` starts `numerate train`; nothing else starts a program or asks a machine, but
    the file systems of `storage` and the Ray engine, where a user names one."""
    found = set()
    for module in MODULES:
        for node in ast.walk(ast.parse((SOURCE / module).read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in {"eval", "exec", "compile", "__import__"}:
                    found.add((module, node.func.id))
            elif isinstance(node, ast.Attribute) and node.attr in {"create_connection", "system"}:
                found.add((module, node.attr))
            for name in names:
                if name.split(".")[0] in CLIENTS | PROGRAMS or name.startswith("urllib.request"):
                    found.add((module, name))
    assert found == {
        ("lm/reproduce/children.py", "subprocess"),
        ("engines/ray_engine.py", "create_connection"),
    }


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (r"(?<!\w)Console\(", "reports/notices.py"),  # where `[sic]` is no style
        (r"csv\.(?:w|DictW)riter", "reports/tables.py"),  # where `=1+1` is no formula
        (
            r"html import escape|html\.escape|</(?:div|h\d|li|p|span|t[dr])>",
            None,
        ),  # but in templates
        (r'TextColumn\("\{task\.description\}"\)', None),  # which reads `[sic]` as a style
    ],
)
def test_what_strangers_wrote_goes_through_one_door(pattern: str, home: str | None) -> None:
    found = [
        module
        for module in MODULES
        if re.search(pattern, (SOURCE / module).read_text(encoding="utf-8"))
    ]
    assert found == ([home] if home else [])


def test_the_core_imports_no_more_of_the_laboratory() -> None:
    found: dict[str, set[str]] = {}
    for module in MODULES:
        for imported in imports(SOURCE / module):
            if imported.startswith("lm.") and not module.startswith("lm/"):
                room = ".".join(imported.split(".")[:2])
                found.setdefault(module.removesuffix(".py").split("/")[0], set()).add(room)
    assert found == INTO_THE_LABORATORY


def test_the_page_on_architecture_names_every_room() -> None:
    text = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {Path(module).parent.as_posix() for module in MODULES} - {"."}
    rooms = {folder for folder in folders if folder.count("/") == folder.startswith("lm/")}
    roots = {module for module in MODULES if "/" not in module and not module.startswith("__")}
    missing = [room for room in rooms - {"lm"} if f"`{room}/`" not in text]
    assert missing + [root for root in roots if f"`{root}`" not in text] == []
