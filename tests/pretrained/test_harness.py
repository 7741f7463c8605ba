"""The task of lm-evaluation-harness: run by the harness, it says what we say ourselves."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lm_eval
import numpy as np
import pytest
import torch
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml
from tokenizers import processors

from numerate import harness
from numerate.corpus.dataset import Dataset
from numerate.corpus.prepare import prepare
from numerate.errors import BackboneError, NumerateError
from numerate.numeral_table import NumeralTable
from numerate.pretrained.backbone import open_backbone
from numerate.pretrained.language_model import PretrainedLM, prefixes_of, read_paragraphs

SENTENCES = (
    "The mean age was {} years in {} of 1,250 patients (from {} to 9).",
    "A dose of {}mg was given at .05 in 2000 and {} months, {}% of all.",
    "{} were lost, a list 1,{}, and {} and 2,000 stayed.",
)
NUMERALS = ("3", "12", "61.7", "120", "7", "0.5", "5", "1999", "48", "2")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("harness")
    (home / "texts").mkdir()
    draw = np.random.default_rng(1)
    for number in range(30):
        text = SENTENCES[number % 3].format(*draw.choice(NUMERALS, 3))
        (home / "texts" / f"{number:02}.txt").write_text(text)
    prepare(home / "texts", home / "data")
    return home / "data"


def evaluated(task: Any, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Figures and samples, as the harness has them; its texts begin as the tokenizer has it."""
    backbone = open_backbone(folder)
    start = backbone.tokenizer.bos_token
    backbone.tokenizer._tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A", special_tokens=[(start, backbone.tokenizer.bos_token_id)]
    )
    lm = HFLM(
        pretrained=backbone.model,
        tokenizer=backbone.tokenizer,
        add_bos_token=True,
        batch_size=16,
        device="cpu",
    )
    manager = TaskManager(include_defaults=False)
    found = lm_eval.simple_evaluate(lm, tasks=[task], task_manager=manager, bootstrap_iters=0)
    ((name, figures),) = found["results"].items()
    return figures, found["samples"][name]


def covers(shares: np.ndarray, values: np.ndarray, truth: float, level: float) -> bool:
    """Between the first numbers at which the sum has passed either tail."""
    steps = sorted(zip(values, shares, strict=True))
    sums = np.cumsum([share for _, share in steps])
    low, high = (
        next(value for (value, _), done in zip(steps, sums, strict=True) if done >= q - 1e-12)
        for q in ((1 - level) / 2, (1 + level) / 2)
    )
    return bool(low <= truth <= high)


def scored(lm: PretrainedLM, dataset: Path, candidates: Sequence[str]) -> dict[Any, Any]:
    """What we say: by numeral and text before it, log p and whether intervals cover it."""
    table = NumeralTable(list(candidates))
    found = {}
    for laid_out in lm.lay_out(read_paragraphs(Dataset.open(dataset).split("test"))):
        (score,) = lm.score([laid_out])
        paragraph = laid_out.paragraph
        log_probs = np.concatenate([lm.table(plan, table) for plan in laid_out.windows])
        shares = np.exp(log_probs - np.logaddexp.reduce(log_probs, axis=1, keepdims=True))
        for which, numeral in enumerate(sorted(paragraph.numerals)):
            truth = float(paragraph.written[numeral])
            covered = [covers(shares[which], table.values, truth, level) for level in (0.5, 0.9)]
            before = paragraph.text[: paragraph.starts[numeral]].rstrip()
            found[before, paragraph.written[numeral]] = score.targets[numeral], *covered
    return found


@pytest.mark.parametrize("kind", ["single", "metaspace"])
def test_the_harness_says_what_we_say(
    kind: str, dataset: Path, tiny_models: dict[str, Path]
) -> None:
    task = harness.task(dataset, candidates=8)
    figures, samples = evaluated(task, tiny_models[kind])
    backbone = open_backbone(tiny_models[kind])
    lm = PretrainedLM(backbone, backbone.tokenizer.bos_token_id)
    ours = scored(lm, dataset, task._candidates)
    assert len(task._candidates) > 4
    assert len(samples) > 15
    docs = [sample["doc"] for sample in samples]
    expected = [ours[doc["before"].replace("0.05", ".05"), doc["numeral"]] for doc in docs]
    for sample, (log_prob, half, most) in zip(samples, expected, strict=True):
        assert sample["numeral_perplexity"] == pytest.approx(log_prob, abs=1e-3)
        assert (sample["coverage_50"], sample["coverage_90"]) == (half, most)
    log_probs, half, most = np.array(expected).T
    assert figures["numeral_perplexity,none"] == pytest.approx(np.exp(-log_probs.mean()), rel=1e-3)
    assert figures["coverage_50,none"] == pytest.approx(half.mean())
    assert figures["coverage_90,none"] == pytest.approx(most.mean())
    assert 0 < most.mean() < 1


def test_tokens_of_several_digits(dataset: Path, tiny_models: dict[str, Path]) -> None:
    """Their numerals have no end; where one is asked for, it is told."""
    with pytest.raises(BackboneError, match="tokens have several digits: expected ended: false"):
        evaluated(harness.task(dataset, candidates=8), tiny_models["glued"])
    task = harness.task(dataset, numerals=10, candidates=0, ended=False)
    figures, samples = evaluated(task, tiny_models["glued"])
    backbone = open_backbone(tiny_models["glued"])

    def encode(text: str) -> list[int]:
        return list(backbone.tokenizer.encode(text, add_special_tokens=False))

    expected = []
    for doc in (sample["doc"] for sample in samples):
        before = [backbone.tokenizer.bos_token_id, *encode(doc["before"])]
        forms = {doc["written"], doc["numeral"], f"{float(doc['numeral']):,g}"}
        found = []
        for form in forms:
            after = encode(doc["space"] + form)
            with torch.no_grad():
                logits = backbone.model(torch.tensor([[*before, *after]])).logits[0]
            steps = logits.log_softmax(1)[len(before) - 1 : -1]
            found.append(float(steps[range(len(after)), after].sum()))
        expected.append(np.logaddexp.reduce(found))
    assert set(samples[0]["metrics"]) == {"numeral_perplexity"}
    assert figures["numeral_perplexity,none"] == pytest.approx(np.exp(-np.mean(expected)), rel=1e-3)


def test_tables_stand_before(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    """As we write them ourselves, and the same numerals as without."""
    prepare("cardiac", tmp_path / "data", documents=10, tables=True)
    blind, seeing = (
        harness.task(tmp_path / "data", sight=sight, candidates=0).test_docs()
        for sight in ("none", "tables")
    )
    assert len(blind) == len(seeing) > 20
    lm = PretrainedLM(open_backbone(tiny_models["single"]), 0)
    lm._limit = 4096
    opened = Dataset.open(tmp_path / "data")
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
        ({"candidates": 10.5}, "dataset_kwargs: candidates: got 10.5, expected a whole number"),
        ({"numerals": 0}, "numerals: got 0, expected 1 or more"),
    ],
)
def test_bad_choices_are_told_in_one_line(
    dataset: Path, choice: dict[str, Any], message: str
) -> None:
    with pytest.raises(NumerateError, match=re.escape(message)):
        harness.task(dataset, **choice)


def test_a_yaml_file_names_the_task(dataset: Path, tmp_path: Path) -> None:
    """As the harness's command line reads it."""
    (tmp_path / "numerals.yaml").write_text(
        "task: mine\n"
        "class: !function numerate.harness.NumeralTask\n"
        f"dataset_path: {dataset}\n"
        "test_split: dev\n"
        "dataset_kwargs: {numerals: 5}\n"
    )
    manager = TaskManager(include_defaults=False)
    found = manager.load([load_yaml(tmp_path / "numerals.yaml")])["tasks"]["mine"]
    assert len(found.test_docs()) == 5
    assert found.config.test_split == "dev"
    whole = harness.task(dataset, split="dev").test_docs()
    assert found.test_docs() == whole[:5]  # a small sample is part of every larger one


def test_what_cannot_be_asked(dataset: Path) -> None:
    for choice, reason in (
        ({"numerals": 0}, "numerals: got 0, expected 1 or more"),
        ({"candidates": -1}, "candidates: got -1, expected 0 or more"),
        ({"sight": "all"}, "unknown sight 'all'"),
    ):
        with pytest.raises(NumerateError, match=reason):
            harness.task(dataset, **choice)
