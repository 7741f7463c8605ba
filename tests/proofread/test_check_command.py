"""`numerate check` and `numerate rule`, as a user types them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lm.model.plausibility.test_command import numerate
from tests.lm.model.plausibility.test_domain import PROSE
from tests.proofread.papers import PAPER, RIGHT, WRONG
from typer.testing import CliRunner

import numerate as package
from numerate.cli import app, main
from numerate.config import CHECK_FORMATS
from numerate.documents.text import read_text
from numerate.errors import BROKEN, DomainWarning, NumerateError
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.proofread.formats.html_report import as_html
from numerate.proofread.formats.printed_report import as_csv, as_json
from numerate.proofread.formats.sarif import as_sarif
from numerate.proofread.proofread import proofread
from numerate.proofread.report import Report
from numerate.proofread.selection import all_rules
from numerate.proofread.suppression import suppress
from numerate.rules.reading import ReadDocument
from numerate.rules.recompute import _isolated
from numerate.rules.rule import RULES, Outcome

pytest_plugins = ("tests.trained",)

ALL = ("--min-probability", "0")  # of a small model, which is never sure
LIKELY, ABSURD = "The ejection fraction is 55 %.", "The ejection fraction is 123456789.123 %."


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    texts = {
        "right": RIGHT, "wrong": WRONG, "likely": LIKELY, "absurd": ABSURD,
        "none": "no numeral", "empty": "", "paper": PAPER,
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text)
    return {name: str(tmp_path / f"{name}.md") for name in texts}


@pytest.fixture
def run(runs: dict[str, Path]) -> str:
    return str(runs["combination"])


def test_without_a_model_it_recomputes(
    capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    status, out, err = numerate(capsys, "check", files["right"], files["none"], files["empty"])
    assert status == 0
    assert out.startswith("Nothing found; recomputed 1 of 1 tests")
    assert out.splitlines()[1:] == ["3 numbers read: 3 tested by rules."]
    warned = [line for line in err.splitlines() if "no number in it, though it has text" in line]
    assert [line.split(": ")[1] for line in warned] == [files["none"]]
    status, out, err = numerate(capsys, "check", files["right"], "--quiet")
    assert (status, out, err) == (0, "", "")
    status, out, _ = numerate(capsys, "check", files["right"], files["wrong"])
    assert status == 1
    assert f"{files['wrong']}:1:40 NUM301" in out
    for format in ("json", "csv", "sarif", "html"):
        status, out, err = numerate(capsys, "check", files["wrong"], "--format", format)
        assert status == 1
        assert "NUM301" in out
        assert "recomputed 1 of 1 tests" in out + err


def test_without_a_model_neither_torch_nor_arrow_is_loaded(files: dict[str, str]) -> None:
    code = (
        "import sys\n"
        "from numerate.cli import main\n"
        "paper, *formats = sys.argv[1:]\n"
        "for format in formats:\n"
        "    sys.argv = ['numerate', 'check', paper, '--format', format, '--model', 'none']\n"
        "    try: main()\n"
        "    except SystemExit as left: assert left.code == 1\n"
        "    heavy = {'torch', 'pyarrow', 'numpy', 'transformers', 'matplotlib'}\n"
        "    assert not heavy & set(sys.modules), (format, heavy & set(sys.modules))"
    )
    call = [sys.executable, "-c", code, files["paper"], *CHECK_FORMATS]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_with_a_model_it_also_says_what_is_unlikely(
    capsys: pytest.CaptureFixture[str], run: str, files: dict[str, str]
) -> None:
    status, out, _ = numerate(capsys, "check", files["likely"], "--model", run)
    assert status == 0
    assert out.splitlines() == [
        "Nothing found; combination read 1 number; no statement to recompute.",
        "1 number read: 1 tested by a model.",
    ]
    status, out, _ = numerate(capsys, "check", files["absurd"], "--model", run, *ALL)
    assert status == 1
    assert f"{files['absurd']}:1:26 NUM900 123456789.123 is implausible here" in out
    for format in ("json", "csv", "sarif", "html"):
        status, out, _ = numerate(
            capsys, "check", files["absurd"], "--model", run, "--format", format, *ALL
        )
        assert status == 1
        assert "123456789.123" in out
    # What no model could find is not a reason to open one.
    arguments = ("--model", "gone", "--ignore", "NUM8,NUM9")
    assert numerate(capsys, "check", files["absurd"], *arguments)[0] == 0


def test_the_order_of_arguments_of_earlier_versions_is_told(
    capsys: pytest.CaptureFixture[str], run: str, files: dict[str, str]
) -> None:
    status, out, err = numerate(capsys, "check", run, files["right"])
    assert (status, out) == (2, "")
    assert err.endswith(f"expected numerate check {files['right']} --model {run}\n")
    assert err.count("\n") == 1
    assert numerate(capsys, "check", "hf:model", files["right"])[0] == 2


def test_codes_are_selected_and_ignored(
    capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    wrong = files["wrong"]
    assert numerate(capsys, "check", wrong, "--select", "NUM3")[0] == 1
    assert numerate(capsys, "check", wrong, "--select", "NUM8,NUM9")[0] == 0
    assert numerate(capsys, "check", wrong, "--ignore", "NUM301")[0] == 0
    status, _, err = numerate(capsys, "check", wrong, "--ignore", "NUM301x")
    assert status == 2
    assert err.startswith("numerate: ignore: got 'NUM301x', did you mean NUM301?")


def test_a_baseline_on_the_command_line(
    capsys: pytest.CaptureFixture[str], files: dict[str, str], tmp_path: Path
) -> None:
    known = str(tmp_path / "known.json")
    status, out, err = numerate(
        capsys, "check", files["paper"], "--baseline", known, "--write-baseline"
    )
    assert (status, out) == (0, "")
    assert err == f"numerate: {known}: 2 findings known now: 2 added, 0 kept, 0 dropped\n"
    status, out, _ = numerate(capsys, "check", files["paper"], "--baseline", known)
    assert status == 0
    assert out.startswith("Nothing found, 2 known from the baseline; recomputed 3 of 3 tests")
    status, out, _ = numerate(capsys, "check", files["paper"], files["wrong"], "--baseline", known)
    assert status == 1
    assert out.count("NUM301") == 1
    status, _, err = numerate(capsys, "check", files["paper"], "--write-baseline")
    assert (status, err.count("\n")) == (2, 1)


def test_fix_asks_and_does_nothing_where_nobody_can_answer(
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    status, out, err = numerate(capsys, "check", files["wrong"], "--fix")
    assert status == 2
    assert "NUM301" in out
    assert err == (
        "numerate: --fix: asks before each change, and there is no terminal to answer on\n"
    )
    assert Path(files["wrong"]).read_text() == WRONG
    for wrong in (["-"], [files["wrong"], "--format", "json"]):
        assert numerate(capsys, "check", *wrong, "--fix")[0] == 2
    monkeypatch.setattr("numerate.proofread.fixing.ask_on_terminal", lambda _: "y\n")
    assert numerate(capsys, "check", files["wrong"], "--fix")[0] == 0
    assert Path(files["wrong"]).read_text() == WRONG.replace("0.36", "0.04")


def test_what_suppressions_are_not_needed_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"{WRONG} <!-- numerate: ignore -->\n\n{RIGHT} <!-- numerate: ignore -->")
    status, out, err = numerate(capsys, "check", str(path))
    assert status == 0
    assert out.startswith("Nothing found; recomputed 2 of 2 tests")
    assert err.startswith(f"numerate: {path}:3:52: numerate: ignore is not needed")


def test_a_text_of_another_kind_is_told(
    capsys: pytest.CaptureFixture[str], run: str, tmp_path: Path
) -> None:
    """It is no all-clear, even where nothing is flagged."""
    prose = tmp_path / "prose.txt"
    prose.write_text(PROSE.replace("1873", "18"))
    status, out, _ = numerate(capsys, "check", str(prose), "--model", run)
    assert status == 1
    assert out.startswith(f"{prose} is unlike what the model was trained on: ")
    arguments = ("check", str(prose), "--model", run, "--format", "json")
    status, out, err = numerate(capsys, *arguments)
    record = json.loads(out)
    assert (status, record["findings"]) == (1, [])
    assert record["documents"][0]["domain"][0]["fits"] is False
    assert err.startswith(f"numerate: {prose} is unlike")
    assert err.count("\n") == 1


def test_standard_input(files: dict[str, str]) -> None:
    done = CliRunner().invoke(app, ["check", "-"], input=WRONG)
    assert done.exit_code == 1
    assert "stdin:1:40 NUM301" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.txt"], "numerate: gone.txt: no such file"),
        (["{right}", "--alarms", "2"], "numerate: alarms: got 2.0, expected bet"),
        (["{right}", "--format", "jsn"], "numerate: unknown format 'jsn': did y"),
        (
            ["{right}", "--model", "gone"],
            "numerate: gone: not a run: config.json is missing, there is no such",
        ),
        (["{right}", "--baseline", "gone"], "numerate: gone: no such baseline"),
    ],
)
def test_errors_are_kept_apart_from_findings(
    capsys: pytest.CaptureFixture[str], files: dict[str, str], arguments: list[str], message: str
) -> None:
    filled = [argument.format(right=files["right"]) for argument in arguments]
    status, out, err = numerate(capsys, "check", *filled)
    assert (status, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.fixture
def broken_rule(monkeypatch: pytest.MonkeyPatch) -> str:
    """NUM101 finds what it finds, and then breaks."""
    found = RULES["NUM101"].recompute

    def breaks(read: ReadDocument) -> Iterator[Outcome]:
        yield from found(read)
        raise OverflowError("too\nlarge")

    monkeypatch.setattr("numerate.rules.recompute._isolated", _isolated)
    monkeypatch.setitem(RULES, "NUM101", replace(RULES["NUM101"], recompute=breaks))
    return "NUM101"


@pytest.mark.parametrize("format", CHECK_FORMATS)
def test_a_rule_that_breaks_costs_nothing_else(
    capsys: pytest.CaptureFixture[str], files: dict[str, str], broken_rule: str, format: str
) -> None:
    text = f"{WRONG} Of them, 42 of 120 (53%) were women."
    Path(files["wrong"]).write_text(text)
    arguments = ("check", files["wrong"], "--format", format, "--quiet")
    status, out, err = numerate(capsys, *arguments)
    assert status == BROKEN
    assert ("NUM301" in out, out.count("0.36") > 0) == (True, True)
    line = f"{files['wrong']}: rule NUM101 failed, and what it would find is missing; this is a "
    line += "mistake of numerate, please report it: OverflowError: too large"
    assert line in (out if format == "terminal" else err)
    assert (format in {"terminal", "csv"}) or line in out
    assert format == "csv" or "2 findings, 1 rule failed;" in out
    assert numerate(capsys, *arguments, "--ignore", "NUM101")[0] == 1
    with pytest.warns(RuntimeWarning, match="rule NUM101 failed"):
        assert {finding.code for finding in package.check(text)} == {"NUM101", "NUM301"}


def test_a_rule_that_breaks_leaves_its_known_findings_known(
    capsys: pytest.CaptureFixture[str], files: dict[str, str], tmp_path: Path
) -> None:
    Path(files["wrong"]).write_text("Of them, 42 of 120 (53%) were women.")
    arguments = ("check", files["wrong"], "--baseline", str(tmp_path / "known"), "--write-baseline")
    assert numerate(capsys, *arguments)[0] == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("numerate.rules.recompute._isolated", _isolated)
        patch.setitem(RULES, "NUM101", replace(RULES["NUM101"], recompute=lambda read: 1 / 0))  # type: ignore[arg-type]
        status, _, err = numerate(capsys, *arguments)
    assert status == BROKEN
    assert "1 finding known now: 0 added, 1 kept, 0 dropped" in err


def test_a_reader_that_leaves_is_no_error(files: dict[str, str]) -> None:
    call = [sys.executable, "-m", "numerate", "check", files["wrong"], "--format", "html"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # as `head` does
        assert b"pipe" not in process.stderr.read().lower()


@pytest.mark.parametrize("format", CHECK_FORMATS)
@pytest.mark.parametrize(("text", "expected"), [(RIGHT, 0), (WRONG, 1)])
def test_a_file_whose_name_is_no_utf8(
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
    format: str,
    text: str,
    expected: int,
) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m.txt")
    Path(path).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["numerate", "check", path, "--format", format])
        patch.setattr("signal.signal", lambda *_: None)
        sys.stdout.reconfigure(errors="strict")  # type: ignore[union-attr]  # as outside of tests
        with pytest.raises(SystemExit) as left:
            main()
    out, _ = capfdbinary.readouterr()
    assert left.value.code == expected
    out.decode("utf-8")
    assert format in {"csv", "html"} or b"\x1b[31m" not in out


TEXTS = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            [WRONG, RIGHT, PAPER, "| a | 5 |\n|---|---|\n| 1 | 2 |", "numerate: ignore[NUM3",
             "numerate: ignore]", "\n\n", "\r", "<!--", "p = 0.3", "t(28) =", "42 (53%)", "\n# ",
             "\n- ", "\n 1. ", "\n```\n", "`", "-->", "42 of 120 (53%)"]
        ),
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(TEXTS)
@settings(max_examples=60)
def test_no_text_breaks_any_report(text: str) -> None:
    found, _ = suppress(proofread(read_text(text)), frozenset(all_rules()))
    report = Report([found])
    for write in (as_json, as_csv, as_sarif):
        write(report)
    page = as_html(report)
    for number, finding in enumerate(found, 1):
        assert page.count(f'id="place_{number}"') == 1
        assert found.read.text(finding.where) == finding.written
        start, end = found.read.span(finding.where) or (0, 0)
        assert "".join(text[start:end].split()) == "".join(finding.written.split())


@given(
    st.binary(max_size=200),
    st.sampled_from(["md", "xml", "html", "jsonl", "txt"]),
    st.sampled_from(CHECK_FORMATS),
)
@settings(max_examples=100)
def test_no_bytes_end_in_a_stack_trace(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, suffix: str, format: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"fuzz.{suffix}"
    path.write_bytes(data)
    done = CliRunner().invoke(app, ["check", str(path), "--format", format])
    assert done.exception is None or isinstance(done.exception, SystemExit | NumerateError)


def test_a_rule_has_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = numerate(capsys, "rule", "num301")
    assert status == 0
    rule = all_rules()["NUM301"]
    assert out.startswith("# NUM301 test-statistic-p-value\n\n")
    assert all(part in out for part in (rule.summary, rule.reason, rule.fix, rule.wrong[0]))
    assert numerate(capsys, "rule", "test-statistic-p-value")[1] == out
    status, out, _ = numerate(capsys, "rule", "--all", "--format", "json")
    assert [record["code"] for record in json.loads(out)] == list(all_rules())
    assert len(numerate(capsys, "rule", "--all")[1].splitlines()) == len(all_rules())
    family = numerate(capsys, "rule", "num3")[1].splitlines()
    assert [line.split()[0] for line in family] == [c for c in all_rules() if c[:4] == "NUM3"]
    for wrong in ([], ["NUM301", "--all"], ["NUM3O1"], [""]):
        status, out, err = numerate(capsys, "rule", *wrong)
        assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.installed
def test_the_readme_shows_what_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = numerate(capsys, "check", "examples/article.md")
    assert status == 1
    printed = "\n".join(line.rstrip() for line in out.splitlines())
    readme = (root / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("```\n")[2].partition("\n```")[0]
    first, last = shown.split("…\n")
    assert printed.startswith(first)
    assert printed.endswith(f"\n{last}")


def test_all_errors_of_the_sample_article_are_found() -> None:
    planted = {
        "30": "NUM507",
        "21": "NUM113",
        "53.0": "NUM101",
        "36.0": "NUM103",
        "0.29": "NUM301",
        "48.9": "NUM604",
        "0.46": "NUM201",
    }
    found = package.check(Path(__file__).parents[2] / "examples" / "article.md")
    assert {finding.written: finding.code for finding in found} == planted


def test_the_page_of_the_documentation_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """Where it fails: numerate rule --all --format markdown > docs/rules.md"""
    page = Path(__file__).parents[2] / "docs" / "rules.md"
    printed = numerate(capsys, "rule", "--all", "--format", "markdown")[1]
    assert page.read_text(encoding="utf-8") == printed


class TestInPython:
    def test_texts_files_and_documents(self, files: dict[str, str]) -> None:
        for what in (WRONG, files["wrong"], Path(files["wrong"]), read_text(WRONG)):
            (found,) = package.check(what)
            assert (found.code, found.written) == ("NUM301", "0.36")
        assert not package.check(RIGHT)
        assert not package.check(f"{WRONG} <!-- numerate: ignore -->")
        assert not package.check(WRONG, ignore=["NUM3"])

    def test_models_by_name_or_opened(self, models: dict[str, NumeralLM], run: str) -> None:
        for model in (models["combination"], run, [run]):
            (found,) = package.check(ABSURD, model, min_probability=0)
            assert found.code == "NUM900"
        with pytest.warns(DomainWarning, match="unlike what the model was trained on"):
            package.check(PROSE, models["combination"])

    def test_the_order_of_earlier_versions_is_told(self, models: dict[str, NumeralLM]) -> None:
        with pytest.raises(NumerateError, match=r"expected numerate\.check\(text, model\)"):
            package.check(models["mog"], RIGHT)  # type: ignore[arg-type]

    def test_what_it_cannot_read_is_one_line(self, tmp_path: Path) -> None:
        two = tmp_path / "two.jsonl"
        two.write_text('{"text": "1"}\n{"text": "2"}\n')
        for what, model, message in (
            (5, None, "got int, expected a text"),
            (two, None, "got 2 documents, expected one"),
            (tmp_path / "gone", None, "no such file"),
            (RIGHT, 5, "model: got int"),
        ):
            with pytest.raises(NumerateError, match=message):
                package.check(what, model)  # type: ignore[arg-type]
        with pytest.raises(NumerateError, match="tables: got str, expected a list of tables"):
            package.check(RIGHT, tables="a,b")  # type: ignore[arg-type]
