"""`numerate inspect` as a user calls it, and its report in a real browser."""

import html
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.lm.inspect.conftest import BACKBONE, LIMIT
from tests.reports.pages import policy_of
from typer.testing import CliRunner, Result

from numerate.cli import app
from numerate.errors import FailureError, NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.inspect import inspect
from numerate.lm.inspect.contexts import picked_contexts
from numerate.lm.inspect.exhibit import Exhibit
from numerate.lm.inspect.inspect import inspect_runs
from numerate.lm.inspect.inspected_run import Run
from numerate.lm.inspect.training_curves import training_curves
from numerate.lm.model.opening import Settings
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("tests.browser",)

CONTEXT = "The ejection fraction is"
EXHIBITS = {
    "numeral-similarities",
    "strategy-use-combination",
    "significant-digits",
    "gaussian-components-mog",
    "training-curves",
    "errors-by-magnitude",
    "calibration",
}


def numerate(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def names(out: Path) -> set[str]:
    return {path.stem for path in (out / "figures").iterdir()}


@pytest.fixture
def quickly_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """One simple figure for each context: where reports are compared, not figures."""

    def exhibits(runs: Sequence[Run], typed: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        drawn, contexts = training_curves(runs), typed or picked_contexts(runs)
        yield (
            "Next numeral",
            [replace(drawn, name=f"next-numeral-{number + 1}") for number in range(len(contexts))],
        )

    monkeypatch.setattr(inspect, "_exhibits", exhibits)


@pytest.fixture(scope="module")
def report(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all seven models, two of them evaluated, with a context of the user's."""
    for model in ("mog", "softmax"):
        evaluate(folders[model], metrics="all" if model == "mog" else "paper", device="cpu").save()
    out = tmp_path_factory.mktemp("report") / "out"
    done = numerate("inspect", *map(str, folders.values()), "--out", str(out), "--context", CONTEXT)
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.endswith(f"Report: {out / 'report.html'}\n")
    return out / "report.html"


def test_every_figure_is_there_as_png_svg_and_csv(report: Path, folders: dict[str, Path]) -> None:
    expected = EXHIBITS | {f"digit-similarities-{model}" for model in folders}
    expected |= {"next-numeral-1", "component-weights-mog-1"}
    assert names(report.parent) == expected
    for name in expected:
        for kind in ("png", "svg", "csv"):
            assert (report.parent / "figures" / f"{name}.{kind}").stat().st_size > 0
    assert not list(report.parent.rglob(".*")), "a temporary file was left"


def test_the_report_says_of_what_it_is(report: Path, cardiac: Path) -> None:
    page = report.read_text(encoding="utf-8")
    manifest = json.loads((cardiac / "manifest.json").read_text())
    for word in (
        manifest["content_hash"], "batch size", "learning rate", "best epoch", "torch", "python",
        "started", "finished", "tokens/s", "Where the runs differ", CONTEXT, "chi-square", "MAD",
        "Perplexity and adjusted perplexity", "oracle",
    ):  # fmt: skip
        assert word in page, word
    assert page.count("<strong>") > 10  # numerals of the examples


def test_the_report_begins_with_what_the_models_are_and_what_the_tables_say(report: Path) -> None:
    page = html.unescape(report.read_text(encoding="utf-8"))
    said = re.search(r"<p>(On numerals, (\S+) has the lowest adjusted perplexity.*?)</p>", page)
    assert said is not None
    assert said[2] in paper_heads()
    assert said[1].count("On the number line") == 1
    places = [page.index(f"<dd>{head_class(name).summary}</dd>") for name in paper_heads()]
    assert places == sorted(places)
    assert places[-1] < said.start() < page.index("Perplexity and adjusted perplexity")


def test_one_run_shows_what_it_has_and_says_what_not(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    out, heard = tmp_path / "out", list[str]()
    inspect_runs([folders["h-softmax"]], out, say=heard.append)
    assert heard == [
        "left out: strategy use: no combination among the runs",
        "left out: significant digits under a model: no d-rnn among the runs",
        "left out: Gaussian components: neither mog nor combination among the runs",
        "left out: calibration: no run with a distribution on the number line (mog)",
    ]
    assert "no combination among the runs" in (out / "report.html").read_text()
    assert names(out) == {
        "numeral-similarities", "digit-similarities-h-softmax", "next-numeral-1",
        "next-numeral-2", "significant-digits", "training-curves", "errors-by-magnitude",
    }  # fmt: skip


@pytest.mark.usefixtures("quickly_drawn")
def test_a_report_is_added_to(folders: dict[str, Path], tmp_path: Path) -> None:
    out, heard = tmp_path / "out", list[str]()
    inspect_runs([folders["h-softmax"]], out, say=heard.append)
    assert "next-numeral-2" in names(out)
    inspect_runs([folders["h-softmax"]], out, contexts=[CONTEXT], limit=3, say=heard.append)
    assert "next-numeral-2" not in names(out), "a figure that the report no longer has"
    (out / "tables.md").write_text("of a reproduction")
    inspect_runs([folders["softmax"]], out, contexts=["aged", CONTEXT], say=heard.append)
    record = json.loads((out / "report.json").read_text())
    assert record["contexts"] == [CONTEXT, "aged"]
    assert [(out / run).resolve() for run in record["runs"]] == [
        folders["softmax"].resolve(),
        folders["h-softmax"].resolve(),
    ]
    page = (out / "report.html").read_text()
    assert "What 2 models learnt" in page
    assert "Figures are of 3 of" in page, "the limit is remembered"
    assert {"next-numeral-1", "next-numeral-2"} <= names(out)
    assert (out / "tables.md").read_text() == "of a reproduction"


@pytest.mark.usefixtures("quickly_drawn")
def test_a_run_that_is_away_is_left_out_until_it_is_back(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    out, run, heard = tmp_path / "out", tmp_path / "run", list[str]()
    shutil.copytree(folders["softmax"], run)
    inspect_runs([folders["mog"], run], out, contexts=[CONTEXT], limit=3, say=heard.append)
    away = run.rename(tmp_path / "away")
    inspect_runs([folders["mog"]], out, say=heard.append)
    (line,) = [line for line in heard if "/run:" in line]
    assert line.endswith("/run: cannot be found, expected the folder of a run")
    page = (out / "report.html").read_text()
    assert "What 1 model learnt" in page
    assert f"<li>{line.removeprefix('left out: ')}</li>" in page
    with pytest.raises(NumerateError, match=f"^{run}: cannot be found"):
        inspect_runs([folders["mog"], run], out, say=heard.append)
    away.rename(run)
    inspect_runs([folders["mog"]], out, say=heard.append)
    assert "What 2 models learnt" in (out / "report.html").read_text()


@pytest.mark.usefixtures("quickly_drawn")
def test_a_run_that_lost_its_backbone_is_left_out_until_it_is_back(
    folders: dict[str, Path], headed_folders: dict[str, Path], settings: Settings, tmp_path: Path
) -> None:
    run, backbone = tmp_path / "smol", tmp_path / "model"
    shutil.copytree(headed_folders["h-softmax"], run)
    record = json.loads((run / "config.json").read_text())
    backbone.symlink_to(record["backbone"]["path"])
    record["backbone"]["path"] = str(backbone)
    (run / "config.json").write_text(json.dumps(record))
    out, choices = tmp_path / "out", {"limit": LIMIT, "settings": settings, "contexts": [CONTEXT]}

    def inspected() -> tuple[list[str], str]:
        heard = list[str]()
        inspect_runs([folders["mog"]], out, say=heard.append, **choices)
        lost = [line for line in heard if "smol" in line]
        return lost, (out / "report.html").read_text()

    inspect_runs([folders["mog"], run], out, say=print, **choices)
    moved = backbone.rename(tmp_path / "elsewhere")
    lines, page = inspected()
    (line,) = lines
    assert line.endswith(
        f"smol: its pretrained model is not at {backbone} any more; pass --backbone hf:PATH"
    )
    assert "What 1 model learnt" in page
    assert f"<li>{line.removeprefix('left out: ')}</li>" in page
    moved.rename(backbone)
    lines, page = inspected()
    assert not lines
    assert "What 2 models learnt" in page


@pytest.mark.usefixtures("quickly_drawn")
@pytest.mark.parametrize("has_report", [False, True])
def test_a_file_with_the_name_of_a_figure_is_not_overwritten(
    folders: dict[str, Path], tmp_path: Path, has_report: bool
) -> None:
    if has_report:
        inspect_runs([folders["mog"]], tmp_path, contexts=[CONTEXT], limit=LIMIT)
    (tmp_path / "figures").mkdir(exist_ok=True)
    theirs = tmp_path / "figures" / "next-numeral-2.csv"
    theirs.write_text("irreplaceable")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    choices: dict[str, Any] = {"contexts": [CONTEXT, "aged"], "among_others": not has_report}
    message = r"holds figures/next-numeral-2\.csv, which numerate did not write; move it away"
    with pytest.raises(NumerateError, match=message):
        inspect_runs(["nowhere"], tmp_path, **choices)  # before a run is opened
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    theirs.rename(theirs.with_name("mine.csv"))
    inspect_runs([folders["mog"]], tmp_path, limit=LIMIT, **choices)
    assert theirs.with_name("mine.csv").read_text() == "irreplaceable"
    assert theirs.read_text() != "irreplaceable"


@pytest.mark.usefixtures("quickly_drawn")
def test_a_file_that_takes_the_name_of_a_figure_meanwhile_is_a_figure_that_failed(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    theirs = tmp_path / "figures" / "next-numeral-2.csv"
    save = Exhibit.save

    def save_beside(exhibit: Exhibit, folder: Path) -> str:
        svg = save(exhibit, folder)
        theirs.write_text("irreplaceable")
        return svg

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Exhibit, "save", save_beside)
        with pytest.raises(FailureError, match=r"without 1 figure: .*next-numeral-2"):
            inspect_runs([folders["mog"]], tmp_path, contexts=[CONTEXT, "aged"], limit=LIMIT)
    assert theirs.read_text() == "irreplaceable"
    assert json.loads((tmp_path / "report.json").read_text())["figures"] == ["next-numeral-1"]
    assert "holds figures/next-numeral-2.csv" in (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("quickly_drawn")
def test_figures_of_a_report_that_was_killed_are_known_as_its_own(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> str:
        raise Killed

    choices: dict[str, Any] = {"contexts": [CONTEXT, "aged"], "limit": LIMIT}
    with monkeypatch.context() as patched:
        patched.setattr(inspect, "_report", kill)
        with pytest.raises(Killed):
            inspect_runs([folders["mog"]], tmp_path, **choices)
    assert names(tmp_path) == {"next-numeral-1", "next-numeral-2"}
    inspect_runs([folders["mog"]], tmp_path, **choices | {"contexts": [CONTEXT]})
    assert names(tmp_path) == {"next-numeral-1"}
    assert "What 1 model learnt" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contexts": [" "]}, "context: got an empty text, expected words before a numeral"),
        ({"dataset": "nowhere"}, "nowhere: not a dataset"),
        ({"device": "abacus"}, "device 'abacus' cannot be used"),
    ],
)
def test_bad_options_are_refused_and_leave_nothing(
    folders: dict[str, Path], tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(NumerateError, match=message):
        inspect_runs([folders["mog"]], tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_folders_of_other_things_are_left_alone(folders: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").touch()
    with pytest.raises(NumerateError, match="photos: not empty, and has no report"):
        inspect_runs([folders["mog"]], tmp_path / "photos")
    (tmp_path / "file").touch()
    with pytest.raises(NumerateError, match="is a file"):
        inspect_runs([folders["mog"]], tmp_path / "file")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "report.json").write_text("{}")
    with pytest.raises(NumerateError, match="not the memory of a report"):
        inspect_runs([folders["mog"]], tmp_path / "broken")
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.png"]


def test_a_corpus_of_a_few_sentences_and_runs_without_an_epoch(tmp_path: Path) -> None:
    """Zeros, numbers ten orders of magnitude apart, and a vocabulary without a numeral."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.txt").write_text("It is 5 kg.\n\nOr 0 mg.\n\nFrom 0.00001 to 1000000 of it.\n")
    (source / "dev.txt").write_text("There is 3 of it.\n\nAnd 0 of that.\n")
    (source / "test.txt").write_text("Or 4.\n")
    prepare(str(source), tmp_path / "data", keep="all")
    models = ("h-softmax", "combination")
    for model in models:
        options = TrainingOptions(epochs=1)
        sizes = {"vocabulary": 3, "hidden": 4}
        train(tmp_path / "data", tmp_path / model, model=model, options=options, **sizes)
        (tmp_path / model / "log.jsonl").write_text("")
    heard: list[str] = []
    out = tmp_path / "out"
    inspect_runs([tmp_path / model for model in models], out, say=heard.append)
    assert heard == [
        "left out: numeral embeddings: fewer than two numerals in the vocabulary",
        "left out: significant digits under a model: no d-rnn among the runs",
        "left out: training curves: no run has completed an epoch",
    ]
    assert {"next-numeral-2", "calibration", "errors-by-magnitude"} <= names(out)


@pytest.fixture(scope="module")
def mixed_report(
    folders: dict[str, Path],
    headed_folders: dict[str, Path],
    settings: Settings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """Of one model from scratch and two over a pretrained one, evaluated but for one."""
    run = headed_folders["combination"]
    evaluate(run, device="cpu", limit=1, settings=settings).save()
    evaluate(headed_folders["d-rnn"], device="cpu", settings=settings).save()
    out = tmp_path_factory.mktemp("report") / "mixed"
    done = numerate(
        *("inspect", str(headed_folders["d-rnn"]), str(folders["mog"]), str(run)),
        *("--out", str(out), "--context", CONTEXT, "--limit", str(LIMIT)),
        *("--cache", str(settings.cache)),
    )
    assert done.exit_code == 0, done.stderr
    assert done.stderr == "left out: numeral embeddings: no run with a softmax over numerals\n"
    return out / "report.html"


def test_a_report_of_runs_with_and_without_a_backbone(
    mixed_report: Path, cardiac: Path, browser: "Browser"
) -> None:
    assert names(mixed_report.parent) == {
        f"digit-similarities-{BACKBONE}-combination", f"digit-similarities-{BACKBONE}-d-rnn",
        "digit-similarities-mog", "next-numeral-1", f"strategy-use-{BACKBONE}-combination",
        "significant-digits", "gaussian-components-mog", "component-weights-mog-1",
        f"component-weights-{BACKBONE}-combination-1", "training-curves", "errors-by-magnitude",
        "calibration",
    }  # fmt: skip
    whole = json.loads((cardiac / "manifest.json").read_text())["splits"]["dev"]["paragraphs"]
    with browser.new_context(viewport={"width": 400, "height": 800}) as context:
        page = context.new_page()
        page.goto(mixed_report.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        extent = f"Figures are of {LIMIT} of {whole} paragraphs of the dev split"
        assert extent in page.inner_text("body")
        label = f"{BACKBONE} · combination"
        results = page.inner_text("#results")
        assert f"{BACKBONE} · d-rnn" in results
        assert f"evaluated on a part of the split: {label} (--limit 1)." in results
        options = page.inner_text("#options")
        assert "backbone hash" in options
        assert f"/{BACKBONE}" in options
        assert version("transformers") in page.locator("#runs table").nth(1).inner_text()
        runs = page.locator("#runs table").first.locator("tbody tr")
        found = [row.split("\t")[0] for row in runs.all_inner_texts()]
        assert found == ["mog", f"{BACKBONE} · d-rnn", label]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_the_report_opens_from_disk(
    report: Path, browser: "Browser", scheme: str, width: int
) -> None:
    view: Any = {"width": width, "height": 800}
    with browser.new_context(viewport=view, color_scheme=scheme) as context:
        page = context.new_page()
        problems: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report.as_uri())
        assert problems == []
        assert "unsafe" not in policy_of(report)
        assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        links = page.eval_on_selector_all("nav a", "all => all.map(a => a.hash)")
        assert len(links) >= 10
        assert all(page.locator(link).count() == 1 for link in links)
        drawings = page.locator("figure svg")
        assert drawings.count() == len(names(report.parent))
        ink, paper = page.evaluate(
            "[document.body, document.body].map((e, i) => "
            "getComputedStyle(e)[['color', 'backgroundColor'][i]])"
        )
        assert (_lightness(ink) < _lightness(paper)) == (scheme == "light")
        inked = "figure svg :is([stroke='currentColor'], [fill='currentColor'])"
        assert page.locator(inked).count() > 100


def _lightness(colour: str) -> int:
    return sum(map(int, re.findall(r"\d+", colour)[:3]))


def test_tables_sort_by_the_column_that_is_clicked(report: Path, browser: "Browser") -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(report.as_uri())
        table = page.locator("#runs table").first
        heading = table.get_by_role("button", name="adjusted dev loss")
        column = "rows => rows.map(row => parseFloat(row.cells[3].textContent))"
        for sign in (1, -1):
            heading.click()
            losses = [sign * x for x in table.locator("tbody tr").evaluate_all(column)]
            assert losses == sorted(losses)
        assert len(losses) == 7
        words = page.locator("#strategy-use table").first
        words.get_by_role("button", name="member").click()
        members = words.locator("tbody tr").evaluate_all(
            "rows => rows.map(r => r.cells[0].innerText)"
        )
        assert members == sorted(members)
        strong = words.locator("tbody strong")
        assert strong.count() == len(members)
