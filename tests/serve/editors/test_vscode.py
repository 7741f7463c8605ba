"""The extension for VS Code is built as people build it: from npm, into a package."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from numerate.serve.editors.buffers import FORMATS

EXTENSION = Path("editors/vscode")
PACKAGE = json.loads((EXTENSION / "package.json").read_text())
QUIETLY = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]


def npm(folder: Path, *arguments: str, seconds: int = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["npm", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def test_it_is_for_languages_that_the_server_reads() -> None:
    languages = PACKAGE["contributes"]["configuration"]["properties"]["numerate.languages"]
    assert set(languages["default"]) <= FORMATS.keys()
    assert PACKAGE["activationEvents"] == [f"onLanguage:{one}" for one in languages["default"]]


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((EXTENSION / "package-lock.json").read_text())["packages"]
    assert not [name for name, about in packages.items() if "resolved" in about]
    assert packages[""]["dependencies"] == PACKAGE["dependencies"]
    assert packages[""]["devDependencies"] == PACKAGE["devDependencies"]


def test_it_is_packaged(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("no npm: install the package npm to build the extension for VS Code")
    folder = tmp_path / "vscode"
    kept = shutil.ignore_patterns("node_modules", "*.vsix")
    shutil.copytree(EXTENSION, folder, ignore=kept)
    try:
        reached = npm(folder, "ping", "--fetch-retries=0", seconds=20)
    except subprocess.TimeoutExpired:
        reached = None
    if reached is None or reached.returncode:
        pytest.skip("npm reaches no registry, so that the extension for VS Code cannot be built")
    installed = npm(folder, "ci", "--omit=optional", *QUIETLY)
    assert installed.returncode == 0, installed.stderr
    packaged = npm(folder, "run", "package")
    assert packaged.returncode == 0, packaged.stdout + packaged.stderr
    with zipfile.ZipFile(folder / "numerate.vsix") as archive:
        names = archive.namelist()
    assert "extension/extension.js" in names
    assert "extension/node_modules/vscode-languageclient/package.json" in names
