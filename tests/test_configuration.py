"""numerate.toml and [tool.numerate]: found upwards, strict, behind the command line."""

from pathlib import Path

import pytest

from numerate.cli.chosen import here, run_and_rest
from numerate.config import PRETRAINED, Configuration, find_configuration
from numerate.errors import NumerateError
from numerate.lm.backbones.pretrained.backbone import PREFIX

WHOLE = """
model = ["runs/mine", "hf:models/m"]
alarms = 0.02
format = "csv"
select = ["NUM1", "NUM301"]
baseline = "known.json"

[ignore]
codes = ["NUM104"]
numerals = ["2024"]
patterns = ['Fig\\. \\d+']
files = ["drafts/*", "*.bib"]
"""


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    return folder


def test_all_keys_are_read_and_folders_are_the_files(tmp_path: Path, inner: Path) -> None:
    (tmp_path / "numerate.toml").write_text(WHOLE)
    found = find_configuration(inner)
    assert (found.alarms, found.format) == (0.02, "csv")
    assert found.run == str(tmp_path / "runs" / "mine")
    assert found.models == (found.run, f"hf:{tmp_path / 'models' / 'm'}")
    assert (found.select, found.codes) == (("NUM1", "NUM301"), ("NUM104",))
    assert found.baseline == tmp_path / "known.json"
    assert found.numerals == {"2024"}
    assert found.patterns[0].fullmatch("Fig. 12")
    inside = [
        name
        for name in ("drafts/x/y.txt", "z.bib", "final.txt")
        if found.leaves_out(tmp_path / name)
    ]
    assert inside == ["drafts/x/y.txt", "z.bib"]


def test_the_nearest_counts(tmp_path: Path, inner: Path) -> None:
    assert find_configuration(inner) == Configuration()
    (tmp_path / "pyproject.toml").write_text("[tool.numerate]\nalarms = 0.1")
    assert find_configuration(inner).alarms == 0.1
    (inner.parent / "pyproject.toml").write_text("[tool.other]\nalarms = 0.2")
    assert find_configuration(inner).alarms == 0.1  # one that says nothing of us is passed by
    (tmp_path / "numerate.toml").write_text("alarms = 0.3")
    assert find_configuration(inner).alarms == 0.3
    (inner / "pyproject.toml").write_text('[tool.numerate]\nmodel = "hf:models/m"')
    assert find_configuration(inner).run == f"hf:{inner / 'models' / 'm'}"
    assert find_configuration(inner).alarms is None
    assert PRETRAINED == PREFIX


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alarm = 0.1", "unknown key of {}: 'alarm': did you mean alarms? expected one of model, "),
        ("[ignore]\nfile = []", "unknown key of {}: 'ignore.file': did you mean ignore.files? "),
        ("run = 'mine'", "{}: run is called model now: write model = 'mine'"),
        ("model = 3", "{}: model: got 3, expected a string or a list"),
        ("baseline = 2020-01-01", '{}: baseline: got "2020-01-01", expected a string'),
        ("alarms = '1'", '{}: alarms: got "1", expected a number'),
        ("alarms = 1", "{}: alarms: got 1, expected between 0 and 1"),
        ("format = 'jsn'", "unknown value of {}: format: 'jsn': did you mean json?"),
        ("[ignore]\nnumerals = [5]", "{}: ignore.numerals[0]: got 5, expected a string"),
        ("[ignore]\npatterns = ['(']", "{}: ignore.patterns: got '(', expected a regular expres"),
        ("ignore = 5", "{}: ignore: got 5, expected an object"),
        ("model = ", "{}: not TOML: Invalid value"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "numerate.toml"
    path.write_text(text)
    with pytest.raises(NumerateError) as error:
        find_configuration(tmp_path)
    assert str(error.value).startswith(message.format(path))
    assert "\n" not in str(error.value)


def test_a_run_may_be_left_out_where_one_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run").mkdir()

    def chosen(*arguments: str) -> tuple[str, list[str]]:
        return run_and_rest(list(arguments), here, "RUN TEXT")[:2]

    assert chosen("run", "a", "b") == ("run", ["a", "b"])
    assert chosen("hf:model", "a") == ("hf:model", ["a"])
    assert chosen("gone", "a") == ("gone", ["a"])  # whoever opens it says what is wrong
    with pytest.raises(
        NumerateError, match=r"^no run: got 'a' alone, expected RUN TEXT, or model ="
    ):
        chosen("a")
    with pytest.raises(NumerateError, match=r"^run: got only this, a run, expected RUN TEXT"):
        chosen("run")
    Path("numerate.toml").write_text('model = "mine"')
    mine = str(tmp_path / "mine")
    assert chosen("a") == (mine, ["a"])
    assert chosen("a", "b") == (mine, ["a", "b"])
    assert chosen("run", "a") == ("run", ["a"])
