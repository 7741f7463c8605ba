"""A real editor: Neovim, without a screen."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "neovim.lua"
TEXT = "😀 Of the patients, 42 of 120 (53%) were women."


@pytest.mark.skipif(
    shutil.which("nvim") is None,
    reason="no Neovim: install the package neovim to test the language server in an editor",
)
def test_neovim_shows_what_is_wrong_and_mends_it(tmp_path: Path) -> None:
    (tmp_path / "numerate.toml").write_text('model = "none"\n')
    (tmp_path / "text.md").write_text(f"{TEXT}\n")
    answer = tmp_path / "answer.json"
    done = subprocess.run(
        ["nvim", "--headless", "--clean", "-c", f"luafile {SCRIPT}", "-c", "cquit"],
        env={
            **os.environ,
            "LSP_FILE": str(tmp_path / "text.md"),
            "LSP_PYTHON": sys.executable,
            "LSP_ANSWER": str(answer),
            "XDG_STATE_HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(answer.read_text())
    assert found["marked"]
    assert found["message"].startswith("42 of 120 is 35 %, not 53 %.")
    at = len(TEXT[: TEXT.index("53")].encode())  # Neovim counts bytes
    assert (found["line"], found["column"]) == (0, at)
    assert "**NUM101**" in found["hover"]
    assert found["actions"] == ["Write 35 instead of 53", "Ignore NUM101 in this line"]
    assert found["mended"]
    assert found["text"] == [TEXT.replace("53", "35")]
    assert found["marked_again"]
    assert found["column_again"] == at
