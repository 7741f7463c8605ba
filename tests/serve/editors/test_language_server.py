"""The real `numerate lsp`, as an editor speaks with it."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.editors.editor import Editor
from typer.testing import CliRunner

from numerate.cli import app

WRONG = "Of the patients, 42 of 120 (53%) were women.\n"
RIGHT = "Of the patients, 42 of 120 (35%) were women.\n"


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """All texts are recomputed alone, but for those in `asked`."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "numerate.toml").write_text('model = "none"\n')
    (folder / "asked").mkdir()
    (folder / "asked" / "numerate.toml").write_text("")
    found = Editor(folder)
    yield found
    assert found.leave() == 0


def codes(marks: list[dict[str, Any]]) -> list[str]:
    return [mark["code"] for mark in marks]


def test_what_is_found_is_marked_with_its_evidence(editor: Editor) -> None:
    editor.open("marked.md", f"# 😀 {WRONG}")
    (mark,) = editor.marks("marked.md", 1)
    assert mark["code"] == "NUM101"
    assert mark["source"] == "numerate"
    assert mark["severity"] == 1
    start = len("# 😀 ".encode("utf-16-le")) // 2 + WRONG.index("53")
    assert mark["range"] == {
        "start": {"line": 0, "character": start},
        "end": {"line": 0, "character": start + 2},
    }
    first, *_ = mark["message"].splitlines()
    assert first == "42 of 120 is 35 %, not 53 %."
    others = [one["location"]["range"]["start"] for one in mark["relatedInformation"]]
    assert {"line": 0, "character": start - len("42 of 120 (")} in others


def test_what_is_suggested_can_be_written(editor: Editor) -> None:
    editor.open("fixed.md", WRONG)
    marks = editor.marks("fixed.md", 1)
    fix, ignore = editor.actions("fixed.md", marks)
    assert fix["title"] == "Write 35 instead of 53"
    (change,) = fix["edit"]["documentChanges"]
    assert change["edits"] == [{"range": marks[0]["range"], "newText": "35"}]
    (change,) = ignore["edit"]["documentChanges"]
    assert change["edits"][0]["newText"] == " <!-- numerate: ignore[NUM101] -->"
    editor.change("fixed.md", WRONG.replace("53", "54"), 2)
    assert editor.actions("fixed.md", marks) == []  # something else stands there now


def test_a_text_of_latex_is_read_as_such(editor: Editor) -> None:
    editor.open("text.tex", WRONG.replace("%", "\\%"), "latex")
    marks = editor.marks("text.tex", 1)
    assert codes(marks) == ["NUM101"]
    _, ignore = editor.actions("text.tex", marks)
    (change,) = ignore["edit"]["documentChanges"]
    assert change["edits"][0]["newText"] == " % numerate: ignore[NUM101]"


def test_a_number_is_shown_with_what_a_model_expects(editor: Editor) -> None:
    name = "asked/article.qmd"
    editor.open(name, f"{WRONG}\n{RIGHT}", "quarto")
    editor.marks(name, 1)  # of the rules
    editor.marks(name, 1)  # and of all
    shown = editor.at("hover", name, 0, WRONG.index("53"))["contents"]
    assert shown["kind"] == "markdown"
    assert "**NUM101** 42 of 120 is 35 %" in shown["value"]
    assert "Expected here by articles: median" in shown["value"]
    assert "| number | probability | |" in shown["value"]
    assert editor.at("hover", name, 0, WRONG.index("patients")) is None
    right = editor.at("hover", name, 2, RIGHT.index("35"))["contents"]["value"]
    assert right.startswith("Expected here by articles")


def test_the_newest_text_wins_and_nothing_piles_up(editor: Editor) -> None:
    name = "changing.md"
    editor.open(name, RIGHT)
    for version in range(2, 60):
        editor.change(name, f"{WRONG if version % 2 else RIGHT}\n{'Nothing. ' * 2000}", version)
    assert codes(editor.marks(name, 59)) == ["NUM101"]
    shown = [
        message
        for message in editor.heard
        if message.get("method") == "textDocument/publishDiagnostics"
        and message["params"]["uri"] == editor.uri(name)
    ]
    assert len(shown) < 59


def test_what_is_closed_is_marked_no_more(editor: Editor) -> None:
    editor.open("closed.md", WRONG)
    assert editor.marks("closed.md", 1)
    editor.close("closed.md")
    assert editor.marks("closed.md", None) == []


def test_requests_out_of_order_are_answered(editor: Editor) -> None:
    editor.change("unknown.md", WRONG, 3)
    editor.close("unknown.md")
    assert editor.at("hover", "unknown.md", 0, 0) is None
    editor.open("ordered.md", RIGHT, version=5)
    assert editor.marks("ordered.md", 5) == []
    editor.change("ordered.md", WRONG, 4)  # older than what is known
    assert editor.at("hover", "ordered.md", 99, 99) is None
    editor.change("ordered.md", WRONG, 6)
    assert codes(editor.marks("ordered.md", 6)) == ["NUM101"]


def test_what_is_no_request_does_no_harm(editor: Editor) -> None:
    editor.write(b'{"jsonrpc": "2.0", "id": 1')
    editor.write(b"\xff\xfe")
    editor.write(b"[]")
    assert "error" in editor.ask("no/suchMethod", {})
    editor.tell("textDocument/didOpen", {"textDocument": 5})
    editor.tell("textDocument/didChange", None)
    editor.open("after.md", WRONG)
    assert codes(editor.marks("after.md", 1)) == ["NUM101"]


def test_what_cannot_be_had_is_one_line(editor: Editor) -> None:
    folder = editor.folder / "broken"
    folder.mkdir()
    (folder / "numerate.toml").write_text("modell = 5\n")
    editor.open("broken/text.md", WRONG)
    assert editor.marks("broken/text.md", 1) == []
    assert "modell" in editor.said("numerate.toml")
    editor.open("program.py", "n = 42", "python")
    assert editor.said("program.py").endswith("program.py: python is not checked")


def test_a_file_of_five_megabytes_does_not_stop_the_others(editor: Editor) -> None:
    large = f"{WRONG}\n{'Nothing is said here at all.' * 30}\n\n" * 5700
    assert len(large) > 5_000_000
    editor.open("large.md", large)
    editor.change("large.md", large, 2)
    assert "checked when it is opened and saved" in editor.said("large.md")
    assert editor.at("hover", "large.md", 0, 0) is None
    editor.close("large.md")
    assert editor.marks("large.md", None) == []


def test_units_are_agreed_on_and_an_editor_may_leave_without_a_word(tmp_path: Path) -> None:
    editor = Editor(tmp_path, ("utf-8",))
    assert editor.capabilities["positionEncoding"] == "utf-8"
    assert editor.process.stdin is not None
    editor.process.stdin.close()
    assert editor.ended() == 0


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    editor.process.send_signal(signal.SIGTERM)
    assert editor.ended() == 0


def test_without_pygls_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    done = CliRunner().invoke(app, ["lsp"])
    assert "pip install 'numerate[lsp]'" in str(done.exception)
