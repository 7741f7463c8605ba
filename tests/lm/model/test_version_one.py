"""Runs of version 1 open as they were: their names and records, written here as they stood."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import save

from numerate.errors import RunError
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.data.numeral_table import NumeralTable
from numerate.lm.data.tensor_file import load_tensors, save_tensors
from numerate.lm.heads.base import HeadOptions, TrainingNumerals
from numerate.lm.heads.registry import head_class, paper_heads
from numerate.lm.model.config import ModelConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch, open_stored
from numerate.text.vocabulary import Vocabulary

SIZE = 3
VOCABULARY = Vocabulary(("<unk>", "</s>", "the"), ("<unk-numeral>", "7", "2.5"))
TABLE = NumeralTable(["7", "2.5", "10", "120"])
NUMERALS = TrainingNumerals(TABLE, np.array([3, 2, 1, 1]), VOCABULARY.numerals[1:])
FORMAT = "numerate model 1"
# Where names of tensors begin, now and then; the first that fits counts.
SCRATCH = {
    "backbone.words.weight": "output.words",
    "backbone.words.gate": "output.gate",
    "backbone.embedding.": "embedding.",
}
GATED = {**SCRATCH, "head.": "output.head."}
FLAT = {**SCRATCH, "head.embedding.": "output.numerals."}
HEADED = {"head.members.lm.adapter.": "adapter.", "backbone.project.": "project."}
TUNED = {**HEADED, "backbone.tuned.": "backbone."}


def rewrite(folder: Path, names: dict[str, str], **changes: Any) -> set[str]:
    """A folder as version 1 wrote it; the names of its tensors."""
    path = folder / "model.safetensors"
    tensors, about = load_tensors(path, FORMAT)

    def older(name: str) -> str:
        begin = next((new for new in names if name.startswith(new)), None)
        return name if begin is None else names[begin] + name.removeprefix(begin)

    renamed = {older(name): tensor for name, tensor in tensors.items()}
    assert len(renamed) == len(tensors)
    save_tensors(path, FORMAT, renamed, {"vocabulary": about["vocabulary"]})
    means = [tensor for name, tensor in renamed.items() if name.endswith("means")]
    record = json.loads((folder / "config.json").read_text())
    del record["options"], record["head"]
    record |= {"version": 1, "truncate": False, "components": sum(map(len, means)), **changes}
    (folder / "config.json").write_text(json.dumps(record))
    return set(renamed)


def assert_same(found: NumeralLM, model: NumeralLM) -> None:
    assert found.members == model.members
    expected = model.weights()
    assert found.weights().keys() == expected.keys()
    assert all(tensor.equal(expected[name]) for name, tensor in found.weights().items())
    assert found.head.config() == model.head.config()


@pytest.mark.parametrize("name", paper_heads())
def test_models_from_scratch(name: str, tmp_path: Path) -> None:
    torch.manual_seed(1)
    kind, config = head_class(name), ModelConfig(name, hidden=SIZE)
    model = from_scratch(config, VOCABULARY, kind.fit(NUMERALS, SIZE, config.options))
    model.save(tmp_path)
    names = rewrite(tmp_path, FLAT if kind.flat else GATED)
    assert {"embedding.words", "backbone.lstm.weight_hh_l0", "output.words"} <= names
    assert not any(name.startswith("head.") for name in names)
    assert_same(open_stored(tmp_path), model.eval())


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory) -> PretrainedLM:
    return PretrainedLM(open_backbone(save(tmp_path_factory.mktemp("lm"), "single")), 1)


def headed(lm: PretrainedLM, name: str, finetune: str, folder: Path) -> NumeralLM:
    """An untrained head over a pretrained model, in a folder as version 1 wrote it."""
    torch.manual_seed(1)
    config = ModelConfig(name, hidden=SIZE, options=HeadOptions())
    size, frozen = lm.scorer.state_size, finetune == "none"
    data = TrainingNumerals(TABLE, NUMERALS.counts, NUMERALS.vocabulary, size, frozen)
    head = head_class(name).fit(data, SIZE, config.options)
    backbone = CausalBackbone(lm, SIZE, config.dropout, tuned=not frozen)
    model = NumeralLM(config, VOCABULARY, backbone, head).eval()
    about = {
        "path": str(lm.backbone.path),
        "digest": lm.backbone.digest,
        "start": 1,
        "layers": lm.scorer.layers,
        "finetune": finetune,
        "networks": 1,
    }
    model.save(folder)
    names = rewrite(folder, HEADED if frozen else TUNED, backbone=about)
    assert "project.0.weight" in names
    assert ("adapter.first.weight" in names) == (frozen and name == "combination")
    return model


@pytest.mark.parametrize("name", ["h-softmax", "h-softmax+rnn", "d-rnn", "mog", "combination"])
def test_heads_over_a_frozen_model(name: str, lm: PretrainedLM, tmp_path: Path) -> None:
    model = headed(lm, name, "none", tmp_path)
    assert_same(open_stored(tmp_path), model)


def test_a_head_with_the_model_that_was_trained_too(lm: PretrainedLM, tmp_path: Path) -> None:
    model = headed(lm, "combination", "full", tmp_path)
    assert any(name.startswith("backbone.tuned.") for name in model.weights())
    assert_same(open_stored(tmp_path), model)


@pytest.mark.parametrize(
    ("networks", "reason"),
    [
        (None, "made by an earlier version; train it again"),
        (2, "made by an earlier version; train it again"),
        ("x", 'backbone.networks: got "x", expected a whole number'),
    ],
)
def test_networks_that_cannot_be(
    networks: Any, reason: str, lm: PretrainedLM, tmp_path: Path
) -> None:
    headed(lm, "combination", "none", tmp_path)
    record = json.loads((tmp_path / "config.json").read_text())
    record["backbone"]["networks"] = networks
    if networks is None:
        del record["backbone"]["networks"]
    (tmp_path / "config.json").write_text(json.dumps(record))
    with pytest.raises(RunError, match=reason):
        open_stored(tmp_path)
