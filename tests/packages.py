"""Packages of others, as they lie on the path once they are installed."""

from pathlib import Path


def install(
    folder: Path, name: str, entry_points: dict[str, dict[str, str]], **modules: str
) -> None:
    """What an installer leaves in `folder`: modules, and what the package says of itself."""
    folder.mkdir(exist_ok=True)
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source, encoding="utf-8")
    about = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in entry_points.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    (about / "entry_points.txt").write_text("\n".join(lines))
