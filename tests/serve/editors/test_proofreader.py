"""What editors are told is what `check` tells, whatever was read before."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from numerate.cli import app
from numerate.serve.editors.buffers import Buffer
from numerate.serve.editors.proof import Proof
from numerate.serve.editors.proofreader import FOR_MODELS, Proofreader, SupersededError
from numerate.serve.editors.remembering import Memory

ARTICLE = Path("examples/article.md").read_text()
WRONG = "Of the patients, 42 of 120 (53%) were women.\n"


@pytest.fixture(scope="module")
def proofreader() -> Proofreader:
    return Proofreader()


def proofs(
    proofreader: Proofreader, path: Path, text: str, is_current: Callable[[], bool] = lambda: True
) -> list[Proof]:
    told: list[Proof] = []
    proofreader.proofread(Buffer(path.as_uri(), 1, text), is_current, told.append)
    return told


def as_checked(path: Path, text: str) -> dict[tuple[str, int], float]:
    path.write_text(text)
    done = CliRunner().invoke(app, ["check", str(path), "--format", "json", "-q"])
    found = json.loads(done.stdout)["findings"]
    return {(one["code"], one["start"]): one["probability"] for one in found}


def as_told(proof: Proof) -> dict[tuple[str, int], float]:
    found = {}
    for one in proof.found:
        span = proof.span(one.where)
        assert span is not None
        found[one.code, proof.found.read.place(one.where).start] = one.probability
    return found


@pytest.mark.installed
def test_it_is_what_check_tells_after_every_edit(proofreader: Proofreader, tmp_path: Path) -> None:
    path = tmp_path / "article.md"
    text = ARTICLE
    for old, new in [
        ("", ""),
        ("66 of 120 walkers", "68 of 120 walkers"),
        ("weighed 71.3 kg", "weighed 713 kg"),
        ("## Methods", "A paragraph that was not there, with 12 words.\n\n## Methods"),
        ("| Fall | 6 | 2 | 8 |", "| Fall | 6 | 2 | 9 |"),
    ]:
        text = text.replace(old, new, 1)
        *_, last = proofs(proofreader, path, text)
        # What a detector says of a cell depends a little on which texts it reads together.
        assert as_told(last) == pytest.approx(as_checked(path, text), abs=0.01)
        assert len(last.found) >= 6


@pytest.mark.installed
def test_rules_come_first_where_models_have_much_to_read(tmp_path: Path) -> None:
    first, *more = proofs(Proofreader(), tmp_path / "article.md", ARTICLE)
    assert first.language_model is None
    assert len(first.found) >= 6
    assert more[0].language_model is not None


@pytest.mark.installed
def test_a_language_that_no_model_knows_is_recomputed_alone(
    proofreader: Proofreader, tmp_path: Path
) -> None:
    said = "Von den Befragten wohnten 42 (35 %) noch in der alten Wohnung am Rande der Stadt. "
    *_, last = proofs(proofreader, tmp_path / "brief.txt", f"{said * 6}\n\n{WRONG}")
    assert "NUM101" in [one.code for one in last.found]
    assert last.language_model is None
    (line,) = last.notes
    assert "unlike what articles knows: recomputed alone" in line


@pytest.mark.installed
def test_what_is_out_of_date_ends_and_is_not_in_vain(
    proofreader: Proofreader, tmp_path: Path
) -> None:
    text = "\n\n".join(f"Text {index}: there were {index + 20} patients." for index in range(6))
    asked: list[bool] = []

    def is_current() -> bool:
        asked.append(True)
        return len(asked) < 6

    with pytest.raises(SupersededError):
        proofs(proofreader, tmp_path / "text.txt", text, is_current)
    assert len(asked) == 6


def test_the_configuration_and_comments_count(proofreader: Proofreader, tmp_path: Path) -> None:
    def found(text: str = WRONG) -> list[str]:
        *_, last = proofs(proofreader, tmp_path / "text.md", text)
        return [one.code for one in last.found]

    assert found() == ["NUM101"]
    assert found(f"{WRONG.strip()} <!-- numerate: ignore[NUM101] -->\n") == []
    (tmp_path / "numerate.toml").write_text('[ignore]\ncodes = ["NUM1"]\n')
    assert found() == []
    (tmp_path / "numerate.toml").write_text('[ignore]\nnumerals = ["53"]\n')
    assert found() == []
    (tmp_path / "numerate.toml").write_text('[ignore]\nfiles = ["*.md"]\n')
    assert found() == []


@pytest.mark.installed
def test_a_large_text_is_recomputed_alone(proofreader: Proofreader, tmp_path: Path) -> None:
    text = WRONG + "\nNothing is said here.\n" * (FOR_MODELS // 20)
    (only,) = proofs(proofreader, tmp_path / "large.md", text)
    assert [one.code for one in only.found] == ["NUM101"]
    assert "more than 200,000 characters: recomputed alone" in only.notes[0]


def test_the_buffer_counts_and_not_the_disk(proofreader: Proofreader, tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text("On the disk stands nothing.")
    (tmp_path / "part.tex").write_text("Of the patients, 40 of 80 (70\\%) were men.\n")
    text = f"\\section{{A}}\n{WRONG.replace('%', chr(92) + '%')}\n\\input{{part}}\n"
    *_, last = proofs(proofreader, tmp_path / "main.tex", text)
    assert sorted(one.written for one in last.found) == ["53", "70"]
    assert [one.written for one in last.found if last.span(one.where)] == ["53"]


@pytest.mark.parametrize(
    "text",
    [
        "\\begin{tabular}{ll} 1 & 2 \\\\",
        "\\newcommand{\\n}{\\n} \\n 42 of 120 (53\\%)",
        "$ 5 \\frac{1",
        "\\begin{document} 7 {{{",
        "\\input{main}",
        "\ufeffOf 120, 42 (53\\%)",
        "\ud83d 42 of 120",
        "\0",
        "",
    ],
)
def test_half_written_text_is_read(proofreader: Proofreader, tmp_path: Path, text: str) -> None:
    for name in ("main.tex", "text.md", "text.txt"):
        assert proofs(proofreader, tmp_path / name, text)


def test_what_was_of_no_use_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numerate.serve.editors.remembering.MOST_REMEMBERED", 2)
    memory: Memory[int] = Memory()
    for key in (1, 2, 1, 3):
        memory.recall(key, lambda key=key: key)
    assert [key in memory for key in (1, 2, 3)] == [True, False, True]
