"""A package outside the source tree brings a head, and every command works with it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from scipy.stats import fisk
from tests.lm.backbones.pretrained.conftest import save
from typer.testing import CliRunner

import numerate
from numerate.cli import app
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.heads.base import Context, HeadOptions, TrainingNumerals
from numerate.lm.heads.registry import head_names
from numerate.lm.heads.testing import check_head

PACKAGE = Path(__file__).parents[2] / "examples" / "log-logistic-head"
NAME = "log-logistic"
SMALL = ("--vocabulary", "100", "--hidden", "8", "--epochs", "1", "--device", "cpu")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Built and installed as a user would, but into a folder of the test's own."""
    home = tmp_path_factory.mktemp("package")
    source, target = shutil.copytree(PACKAGE, home / "source"), home / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    alone = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*install, *alone, str(source)], check=True)
    assert NAME not in head_names()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(target))
        import log_logistic_head

        assert Path(log_logistic_head.__file__).is_relative_to(target)
        yield log_logistic_head
        del sys.modules["log_logistic_head"]


@pytest.fixture(scope="module")
def home(package: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of the head by itself and in a combination, and over a pretrained model."""
    folder = tmp_path_factory.mktemp("home")
    data, model = folder / "data", f"hf:{save(folder / 'tiny', 'single')}"
    numerate.prepare("cardiac", data, documents=40)
    choices = {"alone": (NAME,), "together": ("combination", "--members", f"{NAME},d-rnn")}
    over = {"scratch": (), "over": ("--backbone", model, "--cache", str(folder / "cache"))}
    for (run, model_options), (kind, backbone) in product(choices.items(), over.items()):
        out = ("--out", str(folder / f"{run}-{kind}"))
        done("train", str(data), "--model", *model_options, *SMALL, *backbone, *out)
    return folder


def done(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in ({0, 1} if arguments[0] == "check" else {0}), result.output
    return result.stdout


RUNS = [f"{run}-{kind}" for run in ("alone", "together") for kind in ("scratch", "over")]


def test_it_keeps_the_contract(package: ModuleType) -> None:
    assert NAME in head_names()
    data = TrainingNumerals.of(["0", "1", "2.5", "40", "3.25", "1200"])
    check_head(package.LogLogisticHead.fit(data, 8, HeadOptions()), 8)
    check_head(package.LogLogisticHead.fit(TrainingNumerals.of(["0"]), 8, HeadOptions()), 8)


@pytest.mark.parametrize("precision", [0, 1, 3])
@pytest.mark.parametrize(("log_scale", "shape"), [(1.3, 4.0), (-2.0, 1.5), (6.0, 0.7)])
def test_masses_are_those_of_scipy(
    package: ModuleType, precision: int, log_scale: float, shape: float
) -> None:
    cells = np.unique(np.geomspace(1, 1e7, 400).round())
    value, half_width = np.array([0, *cells]) / 10.0**precision, 0.5 / 10.0**precision
    law, inverse = fisk(shape, scale=np.exp(log_scale)), fisk(shape, scale=np.exp(-log_scale))
    below, above = value - half_width, value + half_width  # fisk has nothing below 0
    expected = law.cdf(above) - law.cdf(below)
    upper = law.cdf(below) > 0.5  # where the inverse, which is log-logistic too, loses less
    expected[upper] = inverse.cdf(1 / below[upper]) - inverse.cdf(1 / above[upper])
    found = package.log_interval_mass(
        *(torch.tensor(x, dtype=torch.float64) for x in (value, half_width, log_scale, shape))
    )
    np.testing.assert_allclose(found.exp(), expected, rtol=1e-6, atol=1e-300)


@torch.no_grad()
def test_numerals_of_a_precision_share_its_probability(package: ModuleType) -> None:
    head = package.LogLogisticHead(4)
    precisions = torch.linspace(-1, 1, package.PRECISIONS + 1)
    head.project.weight.zero_()
    head.project.bias.copy_(torch.cat([torch.tensor([0.0, 10.0]), precisions]))  # mostly near 1
    for precision in range(4):
        texts = [f"{n / 10**precision:.{precision}f}" for n in range(20 * 10**precision)]
        found = head.log_prob_table(Context(torch.ones(1, 4)), NumeralTable(texts)).exp().sum()
        assert float(found) == pytest.approx(float(precisions.softmax(0)[precision]), rel=1e-6)
    many = NumeralTable(["1." + "0" * decimals for decimals in range(1, 32)])
    log_masses = package.log_interval_mass(
        *many.intervals(),
        torch.tensor(0.0),
        torch.nn.functional.softplus(torch.tensor(10.0)) + 0.01,
    )
    chances = head.log_prob_table(Context(torch.ones(1, 4)), many)[0] - log_masses
    assert float(chances.exp().sum()) == pytest.approx(float(precisions.softmax(0)[1:].sum()))


@pytest.mark.parametrize("run", RUNS)
def test_every_command_works_with_it(run: str, home: Path) -> None:
    folder, cache = str(home / run), ("--cache", str(home / "cache"))
    figures = done("evaluate", folder, "--limit", "3", "--format", "json", *cache)
    assert "nan" not in figures.lower()
    assert done("predict", folder, "Ejection fraction is", "--top", "2", *cache).strip()
    text = home / "text.txt"
    text.write_text("The ejection fraction is 61 % with volumes of 150 and 58 mL.")
    assert done("check", str(text), "--model", folder, "--alarms", "0.2", *cache).strip()


def test_its_runs_are_inspected(home: Path) -> None:
    runs = [str(home / run) for run in ("alone-over", "together-scratch")]
    some = ("--limit", "2", "--context", "The ejection fraction is")
    done("inspect", *runs, "--out", str(home / "out"), *some, "--cache", str(home / "cache"))
    page = (home / "out" / "report.html").read_text(encoding="utf-8")
    assert "log-logistic place on the number line" in page
    assert (home / "out" / "figures" / "next-numeral-1.svg").exists()


def test_a_member_of_a_combination_is_asked_by_itself(home: Path) -> None:
    member = numerate.evaluate(f"{home / 'together-scratch'}:{NAME}", limit=2)
    assert member.name.endswith(NAME)
    assert np.isfinite(member.figures["perplexity"]["numerals"]["app"])
