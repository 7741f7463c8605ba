"""Texts on standard input, paths taken for texts, and waiting that is shown."""

import io
import json
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate

from numerate.lm.model.gap import Gap
from numerate.lm.model.numeral_lm import NumeralLM


@pytest.fixture
def run(runs: dict[str, Path]) -> str:
    return str(runs["h-softmax"])


def type_in(patch: pytest.MonkeyPatch, text: bytes) -> None:
    patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_predict_answers_every_line_of_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    texts = ["the volume is", "he weighs ___ kg"]
    alone = [json.loads(numerate(capsys, "predict", run, t, "--format", "json")[1]) for t in texts]
    type_in(monkeypatch, f"{texts[0]}\n\n{texts[1]}".encode())
    status, out, _ = numerate(capsys, "predict", run, "-")
    assert status == 0
    first, empty, second, end = out.split("\n")
    assert (empty, end) == ("", "")
    for line, record in zip((first, second), alone, strict=True):
        assert line.startswith(f"median {record['median']:.9g}, 90% between ")
        best = ", ".join(entry["numeral"] for entry in record["top"][:3])
        assert line.endswith(f"; most likely {best}")
    type_in(monkeypatch, "\n".join(texts).encode())
    status, out, _ = numerate(capsys, "predict", run, "-", "--format", "json")
    assert [json.loads(line) for line in out.splitlines()] == alone


def test_what_is_wrong_with_a_line_is_said_with_its_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    for bad, message in ((b"a ___ b ___", "text: got 2 gaps"), (b"\xff", "not UTF-8")):
        type_in(monkeypatch, b"the volume is\n" + bad)
        status, out, err = numerate(capsys, "predict", run, "-")
        assert status == 2
        assert out.count("\n") == 1  # what came before it is answered
        assert err.startswith(f"numerate: stdin:2: {message}")
    status, _, err = numerate(capsys, "predict", run, "-", "--plot", "a.png")
    assert (status, err) == (
        2,
        "numerate: --plot draws one distribution: got a text a line from -\n",
    )


def test_rank_reads_claims_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    claims = ["the volume is 123456789", "the volume is 55 [sic]"]
    _, typed, _ = numerate(capsys, "rank", run, *claims, "--format", "json")
    type_in(monkeypatch, "\n\n".join(claims).encode())
    status, out, _ = numerate(capsys, "rank", run, "-", "--format", "json")
    assert (status, out) == (0, typed)


@pytest.mark.parametrize("command", ["predict", "rank"])
def test_the_path_of_a_file_is_told_what_to_do(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    run: str,
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kb.csv").write_text("He weighs 74 kg\n")
    status, out, err = numerate(capsys, command, run, "kb.csv")
    assert (status, out) == (2, "")
    assert err == (
        "numerate: kb.csv: a file, expected a text; to read one from each of its lines: "
        f"numerate {command} RUN - < kb.csv\n"
    )


def test_a_gap_says_how_far_it_is(
    models: dict[str, NumeralLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models["h-softmax"]
    monkeypatch.setattr(type(model.backbone), "texts_at_once", 50)
    heard: list[tuple[int, int]] = []
    model.predict("he weighs ___ kg", report=lambda *reached: heard.append(reached))
    total = heard[-1][1]
    assert heard == [(done, total) for done in [*range(0, total, 50), total]]
    assert total == len(Gap(model, "he weighs", "kg").numerals.numerals)


def test_waiting_for_a_gap_is_shown_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    _, _, err = numerate(capsys, "predict", run, "he weighs ___ kg")
    assert "predicting" in err
    assert "numerals" in err
    _, out, err = numerate(capsys, "-q", "predict", run, "he weighs ___ kg")
    assert err == ""
    assert "median" in out
