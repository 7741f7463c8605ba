"""The example for lm-evaluation-harness, without the harness: what likelihoods of texts say of a
numeral is what we say ourselves."""

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from numerate.errors import BackboneError, NumerateError
from numerate.lm.backbones.pretrained.backbone import Backbone, open_backbone
from numerate.lm.backbones.pretrained.language_model import (
    PretrainedLM,
    prefixes_of,
    read_paragraphs,
)
from numerate.lm.data.dataset import Dataset
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.prepare import prepare

SOURCE = Path(__file__).parents[4] / "examples/lm-evaluation-harness/numeral_likelihood.py"
SENTENCES = (
    "The mean age was {} years in {} of 1,250 patients (from {} to 9).",
    "A dose of {}mg was given at .05 in 2000 and {} months, {}% of all.",
    "{} were lost, a list 1,{}, and {} and 2,000 stayed.",
)
NUMERALS = ("3", "12", "61.7", "120", "7", "0.5", "5", "1999", "48", "2")
CANDIDATES = ["2", "7", "12", "48", "61.7", "120", "1999"]


@pytest.fixture(scope="module")
def example() -> Any:
    spec = importlib.util.spec_from_file_location("numeral_likelihood", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["numeral_likelihood"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("likelihood")
    (home / "texts").mkdir()
    draw = np.random.default_rng(1)
    for number in range(30):
        text = SENTENCES[number % 3].format(*draw.choice(NUMERALS, 3))
        (home / "texts" / f"{number:02}.txt").write_text(text)
    prepare(home / "texts", home / "data")
    return home / "data"


def likelihoods(backbone: Backbone, doc: dict[str, str], texts: list[str]) -> dict[str, float]:
    """Of each text after what stands before the numeral, as the harness asks a model for them."""

    def encode(text: str) -> list[int]:
        return list(backbone.tokenizer.encode(text, add_special_tokens=False))

    before, found = [backbone.tokenizer.bos_token_id, *encode(doc["before"])], {}
    for text in texts:
        whole = [backbone.tokenizer.bos_token_id, *encode(doc["before"] + doc["space"] + text)]
        after = whole[len(before) :]
        assert whole[: len(before)] == before
        with torch.no_grad():
            logits = backbone.model(torch.tensor([whole])).logits[0].double()
        steps = logits.log_softmax(1)[len(before) - 1 : -1]
        found[text] = float(steps[range(len(after)), after].sum())
    return found


def covers(shares: np.ndarray, values: np.ndarray, truth: float, level: float) -> bool:
    """Between the first numbers at which the sum has passed either tail."""
    steps = sorted(zip(values, shares, strict=True))
    sums = np.cumsum([share for _, share in steps])
    low, high = (
        next(value for (value, _), done in zip(steps, sums, strict=True) if done >= q - 1e-12)
        for q in ((1 - level) / 2, (1 + level) / 2)
    )
    return bool(low <= truth <= high)


def test_likelihoods_of_texts_say_what_we_say(
    example: Any, dataset: Path, tiny_models: dict[str, Path]
) -> None:
    backbone = open_backbone(tiny_models["single"])
    lm = PretrainedLM(backbone, backbone.tokenizer.bos_token_id)
    opened, table = Dataset.open(dataset), NumeralTable(CANDIDATES)
    ours: dict[Any, Any] = {}
    for laid_out in lm.lay_out(read_paragraphs(opened.split("test"))):
        (score,), paragraph = lm.score([laid_out]), laid_out.paragraph
        log_probs = np.concatenate([lm.table(plan, table) for plan in laid_out.windows])
        shares = np.exp(log_probs - np.logaddexp.reduce(log_probs, axis=1, keepdims=True))
        for which, numeral in enumerate(sorted(paragraph.numerals)):
            truth = float(paragraph.written[numeral])
            covered = {level: covers(shares[which], table.values, truth, level)
                       for level in (0.5, 0.9)}  # fmt: skip
            before = paragraph.text[: paragraph.starts[numeral]].rstrip()
            ours[before, paragraph.written[numeral]] = float(score.targets[numeral]), covered
    docs = list(example.places(opened, "test", example.Choice(numerals=8)))
    assert len(docs) == 8
    for doc in docs:
        found = likelihoods(backbone, doc, example.texts_asked(doc, CANDIDATES, ended=True))
        log_prob = example.log_prob(example.forms_of(doc), found, doc["listed"], ended=True)
        expected, covered = ours[doc["before"].replace("0.05", ".05"), doc["numeral"]]
        assert log_prob == pytest.approx(expected, abs=1e-3)
        assert example.coverage(doc, CANDIDATES, found, ended=True) == covered


def test_tokens_of_several_digits_are_told_of(example: Any) -> None:
    texts = ["1", *example.carried_on("1")]
    likely = dict.fromkeys(texts, -3.0)  # twelve times likelier to go on than to be there
    with pytest.raises(BackboneError, match="tokens have several digits: expected ended: false"):
        example.log_prob(["1"], likely, ended=True)
    assert example.log_prob(["1"], likely, ended=False) == pytest.approx(-3.0)


def test_tables_stand_before(example: Any, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    """As we write them ourselves, and the same numerals as without."""
    prepare("cardiac", tmp_path / "data", documents=10, tables=True)
    opened = Dataset.open(tmp_path / "data")
    blind, seeing = (
        list(example.places(opened, "test", example.Choice(sight=sight)))
        for sight in ("none", "tables")
    )
    assert len(blind) == len(seeing) > 20
    lm = PretrainedLM(open_backbone(tiny_models["single"]), 0)
    lm._limit = 4096
    paragraphs = read_paragraphs(opened.split("test"))
    prefixes = prefixes_of(lm, opened.split("test"), "tables", paragraphs, opened.reading)
    assert prefixes is not None
    written = set()
    for prefix in prefixes.distinct:
        assert prefix is not None
        written.add(lm.backbone.tokenizer.decode([*prefix.tokens[1:], prefix.last]))
    for without, doc in zip(blind, seeing, strict=True):
        assert doc["before"].removesuffix(without["before"]) in written
        assert {**doc, "before": ""} == {**without, "before": ""}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"numeral": 5}, "unknown key of dataset_kwargs 'numeral': did you mean numerals"),
        ({"numerals": "200"}, 'dataset_kwargs: numerals: got "200", expected a whole number'),
        ({"numerals": 0}, "numerals: got 0, expected 1 or more"),
        ({"candidates": -1}, "candidates: got -1, expected 0 or more"),
        ({"sight": "all"}, "unknown sight 'all'"),
    ],
)
def test_bad_choices_are_told_in_one_line(
    example: Any, choice: dict[str, Any], message: str
) -> None:
    with pytest.raises(NumerateError, match=re.escape(message)):
        example.Choice.of(choice)
