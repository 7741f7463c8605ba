"""Number token loss beside the likelihood: its gradient is that of `ntloss`."""

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from ntloss import NTLoss
from torch import Tensor
from typer.testing import CliRunner

from numerate.backbones.causal import CausalBackbone
from numerate.backbones.causal_batches import TextCorpus
from numerate.batching import load_corpora
from numerate.cli import app
from numerate.corpus.dataset import Dataset
from numerate.corpus.prepare import prepare
from numerate.errors import NumerateError
from numerate.evaluation.evaluate import evaluate
from numerate.heads.lm import LMHead
from numerate.model.config import ModelConfig
from numerate.model.numeral_lm import NumeralLM
from numerate.pretrained.backbone import open_backbone
from numerate.pretrained.language_model import PretrainedLM, read_paragraphs
from numerate.pretrained.layout import Paragraph
from numerate.pretrained.number_token_loss import NumberTokenLoss
from numerate.runs.folder import read_json
from numerate.tensor_file import load_tensors
from numerate.training.options import TrainingOptions
from numerate.training.over_backbone import BackboneChoice, number_token_loss
from numerate.training.run import train
from numerate.vocabulary import Vocabulary

WEIGHT = 0.3


@pytest.fixture(scope="module")
def cardiac(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "cardiac"
    prepare("cardiac", folder, documents=12)
    return folder


def gradients(weights: list[Tensor], loss: Tensor) -> list[Tensor]:
    return list(torch.autograd.grad(loss, weights))


def by_hand(lm: PretrainedLM, paragraphs: list[Paragraph]) -> Tensor:
    """The loss as its authors compute it: logits of whole texts, a mean over all digits."""
    loss = NTLoss(deepcopy(lm.backbone.tokenizer))
    logits, labels = [], []
    for paragraph in paragraphs:
        found = lm.backbone.tokenizer(
            paragraph.text, add_special_tokens=False, return_offsets_mapping=True
        )
        ids, spans = torch.tensor(found["input_ids"]), found["offset_mapping"]
        text = torch.cat([torch.tensor([lm.start]), ids])
        places = [(paragraph.starts[n], paragraph.ends[n]) for n in paragraph.numerals]
        inside = [any(a <= start < b for a, b in places) for start, _ in spans]
        logits.append(lm.backbone.model(text[None]).logits[0, :-1])
        labels.append(torch.where(torch.tensor(inside), ids, -100))
    return loss(torch.cat(logits)[None], torch.cat(labels)[None], reduction="mean")


@pytest.mark.parametrize("kind", ["single", "metaspace"])
def test_the_gradient_is_that_of_the_likelihood_and_of_ntloss(
    kind: str, cardiac: Path, make_tiny: Callable[..., Path]
) -> None:
    dataset = Dataset.open(cardiac)
    lm = PretrainedLM(open_backbone(make_tiny(kind, max_position_embeddings=1024)))
    lm.start = lm.backbone.tokenizer.bos_token_id
    split = dataset.split("train")
    paragraphs = read_paragraphs(split)
    corpus = load_corpora(dataset, Vocabulary.nothing(), "none")["train"]
    backbone = CausalBackbone(lm, None, tuned=True)
    model = NumeralLM(ModelConfig("lm"), Vocabulary.nothing(), backbone, LMHead(8))
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    everything = np.arange(3)
    learnt = paragraphs[:3]  # of a window each

    found = {}
    for weight in (0.0, WEIGHT):
        beside = number_token_loss(weight, lm, learnt)
        texts = TextCorpus(corpus, split, paragraphs, lm, None, beside if weight else None)
        loss = model(texts.collate(everything)) / texts.token_count(everything)
        found[weight] = loss.item(), gradients(weights, loss)
        halves = [model(texts.collate(half)) for half in np.array_split(everything, 2)]
        apart = gradients(weights, sum(halves) / texts.token_count(everything))
        for whole, both in zip(found[weight][1], apart, strict=True):
            torch.testing.assert_close(both, whole, rtol=1e-3, atol=1e-5)

    assert found[WEIGHT][0] == pytest.approx(found[0.0][0])  # what is logged is the likelihood
    expected = gradients(weights, by_hand(lm, learnt))
    assert max(gradient.abs().max() for gradient in expected) > 0.01
    for ours, without, theirs in zip(found[WEIGHT][1], found[0.0][1], expected, strict=True):
        torch.testing.assert_close(ours - without, WEIGHT * theirs, rtol=1e-3, atol=1e-5)


def test_no_weight_is_no_loss(cardiac: Path, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    options = TrainingOptions(epochs=1, batch_size=4, learning_rate=0.003)
    for name, weight in (("without", None), ("zero", 0.0), ("with", WEIGHT)):
        chosen = {} if weight is None else {"number_token_loss": weight}
        choice = BackboneChoice(tiny_models["single"], "lora", **chosen)
        out = tmp_path / name
        train(
            cardiac,
            out,
            model="lm",
            vocabulary=100,
            backbone=choice,
            options=options,
            device="cpu",
        )
    weights = {
        name: load_tensors(tmp_path / name / "model.safetensors", "numerate model 1")[0]
        for name in ("without", "zero", "with")
    }
    configs = {name: read_json(tmp_path / name / "config.json") for name in weights}
    assert configs["zero"] == configs["without"]
    assert configs["with"]["backbone"].pop("number_token_loss") == WEIGHT
    assert configs["with"] == configs["without"]
    for name, tensor in weights["without"].items():
        assert torch.equal(weights["zero"][name], tensor)
    assert any(not torch.equal(weights["with"][n], t) for n, t in weights["without"].items())


def test_the_command_line(cardiac: Path, tiny_models: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ["train", str(cardiac), "--out", str(out), "--vocabulary", "100"]
    command += ["--number-token-loss", "0.3"]
    backbone = ["--backbone", f"hf:{tiny_models['single']}"]
    tuned = [*backbone, "--finetune", "lora"]
    glued = ["--backbone", f"hf:{tiny_models['glued']}", "--finetune", "lora", "--model", "lm"]
    for options, reason in (
        ([], "got backbone lstm, expected a pretrained one, hf:PATH"),
        ([*backbone, "--model", "lm"], "got a frozen backbone, expected finetune lora or full"),
        (
            [*tuned, "--model", "mog"],
            "got model mog, expected the pretrained model's own",
        ),
        (glued, "writes several digits in one token, expected one token a digit"),
        ([*tuned, "--model", "lm", "--number-token-loss", "-1"], "got -1.0, expected 0 or more"),
    ):
        refused = CliRunner().invoke(app, [*command, *options])
        assert isinstance(refused.exception, NumerateError)
        assert reason in str(refused.exception)
    done = CliRunner().invoke(
        app, [*command, *tuned, "--model", "lm", "--epochs", "1", "--batch-size", "4"]
    )
    assert done.exit_code == 0, done.output
    figures = evaluate(out, cardiac, limit=2, device="cpu").figures
    assert 1 < figures["perplexity"]["numerals"]["app"] < float("inf")
    assert json.loads((out / "config.json").read_text())["backbone"]["number_token_loss"] == 0.3


def test_it_is_installed_by_itself(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ntloss", None)
    lm = PretrainedLM(open_backbone(tiny_models["single"]))
    with pytest.raises(NumerateError, match=r"pip install 'numerate\[ntloss\]'"):
        NumberTokenLoss(lm, 1.0)
