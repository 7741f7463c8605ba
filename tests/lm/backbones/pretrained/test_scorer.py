"""One pass with masks says what many plain passes say."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.lm.backbones.pretrained.conftest import paragraph
from transformers import Gemma3nForCausalLM, Gemma3nTextConfig

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.backbone import open_backbone
from numerate.lm.backbones.pretrained.language_model import ParagraphScores, PretrainedLM
from numerate.lm.backbones.pretrained.memory_room import in_batches
from numerate.lm.backbones.pretrained.nodes import Nodes
from numerate.lm.backbones.pretrained.prefix import Prefix
from numerate.lm.backbones.pretrained.scorer import Scorer

KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")
Models = dict[str, PretrainedLM]
TEXTS = [
    "the mean was 12.5 (from 100 to 2,000) in 7",
    "5mg, then 10%",
    "7",
    "from 120 to 1,23 and 250 " * 4,
]


def assert_same(found: ParagraphScores, expected: ParagraphScores) -> None:
    for name in ("targets", "gates", "numerals", "states"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_masks_and_paths_agree(kind: str, language_models: Models, monkeypatch) -> None:
    lm = language_models[kind]
    assert lm.scorer.takes_masks
    paragraphs = [paragraph(text) for text in TEXTS]
    masked = lm.score(lm.lay_out(paragraphs))
    monkeypatch.setattr(lm.scorer, "takes_masks", False)
    for found, expected in zip(lm.score(lm.lay_out(paragraphs)), masked, strict=True):
        assert_same(found, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_single_paragraphs_agree(kind: str, language_models: Models) -> None:
    lm = language_models[kind]
    paragraphs = [paragraph(text) for text in TEXTS]
    for some, together in zip(paragraphs, lm.score(lm.lay_out(paragraphs)), strict=True):
        assert_same(lm.score(lm.lay_out([some]))[0], together)


def test_prefixes_are_read_in_the_order_they_are_given(language_models: Models) -> None:
    """Not in that of their places in memory, which would make sums differ between two runs."""
    lm = language_models["single"]
    tokens, no_numbers = np.arange(3), np.zeros(0, dtype=np.int64)
    prefixes = [Prefix(tokens, 1, no_numbers, 0) for _ in range(20)]
    for given in (prefixes, prefixes[::-1]):
        assert list(lm.scorer.read_prefixes([*given, None, *given]).places) == given


def test_logits_in_chunks_are_the_same(language_models: Models, monkeypatch) -> None:
    lm = language_models["glued"]
    paragraphs = [paragraph(text) for text in TEXTS]
    whole = lm.score(lm.lay_out(paragraphs))
    monkeypatch.setattr("numerate.lm.backbones.pretrained.scorer.ROWS", {"cpu": 7})
    for found, expected in zip(lm.score(lm.lay_out(paragraphs)), whole, strict=True):
        assert_same(found, expected)


def test_states_are_those_before_the_first_digit(language_models: Models) -> None:
    """Those of an inner layer, brought to scale, and the last one."""
    lm = language_models["single"]
    text = "the mean was 12.5"
    ids = lm.backbone.tokenizer("the mean was ", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        read = lm.backbone.model.base_model(
            torch.tensor([[lm.start, *ids]]), output_hidden_states=True
        )
    inner, last = (states[0, -1].numpy() for states in read.hidden_states[1:])
    inner = (inner - inner.mean()) / inner.std()
    found = lm.score(lm.lay_out([paragraph(text)]))[0].states
    assert lm.scorer.state_size == 64
    np.testing.assert_allclose(found[0], [*inner, *last], atol=1e-3)


def test_inner_layers_stand_before_the_last(make_tiny: Callable[..., Path]) -> None:
    """Two of ten, from the outside in; what the output layer reads is the last part."""
    lm = PretrainedLM(open_backbone(make_tiny(num_hidden_layers=10)), start=1)
    assert (lm.scorer.layers, lm.scorer.state_size) == ([5, 8], 96)
    tokens = torch.tensor([[1, 7, 9]])
    with torch.no_grad():
        states, _ = lm.scorer.hidden(tokens, use_cache=False)
        read = lm.backbone.model.base_model(tokens, output_hidden_states=True)
    for place, layer in enumerate((5, 8)):
        inner = read.hidden_states[layer]
        scaled = (inner - inner.mean(-1, keepdim=True)) / inner.std(-1, correction=0, keepdim=True)
        torch.testing.assert_close(
            states[..., 32 * place : 32 * place + 32], scaled, rtol=1e-3, atol=1e-3
        )
    torch.testing.assert_close(states[..., 64:], read.last_hidden_state)


def test_inner_states_of_another_shape_are_not_read(language_models: Models) -> None:
    """This one has several streams between its layers: [streams, B, L, D]."""
    lm = language_models["single"]
    layers = 4
    config = Gemma3nTextConfig(
        vocab_size=len(lm.backbone.tokenizer),
        vocab_size_per_layer_input=len(lm.backbone.tokenizer),
        hidden_size=16,
        hidden_size_per_layer_input=4,
        intermediate_size=[32] * layers,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        num_kv_shared_layers=0,
        laurel_rank=2,
        layer_types=["full_attention"] * layers,
        activation_sparsity_pattern=[0.0] * layers,
    )
    scorer = Scorer(Gemma3nForCausalLM(config).eval(), lm.tokens)
    assert (scorer.layers, scorer.state_size) == ([], 16)


def test_threads_do_not_hear_each_other(language_models: Models) -> None:
    """As those of the server, which share a model."""
    scorer = language_models["single"].scorer
    texts = [torch.arange(1, size)[None] for size in range(5, 25)]

    def states(tokens: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return scorer.hidden(tokens, use_cache=False)[0]

    expected = [states(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(states, texts * 5))
    for ours, theirs in zip(found, expected * 5, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_gradients_reach_the_model(language_models: Models) -> None:
    lm = language_models["glued"]
    plans = [plan for one in lm.lay_out([paragraph(t) for t in TEXTS]) for plan in one.windows]
    lm.scorer.score(plans).targets.sum().backward()
    gradients = [p.grad for p in lm.backbone.model.parameters() if p.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    lm.backbone.model.zero_grad()


def test_nodes_see_their_ancestors_only(language_models: Models) -> None:
    lm = language_models["glued"]
    plan = lm.lay_out([paragraph("from 12.5 to 2000")])[0].windows[0]
    mask = Nodes([plan]).mask(torch.device("cpu"))[0, 0].numpy()
    for node in range(len(plan.tokens)):
        ancestors = [node]
        while plan.parents[ancestors[-1]] >= 0:
            ancestors.append(plan.parents[ancestors[-1]])
        assert np.flatnonzero(mask[node]).tolist() == sorted(ancestors)
        assert plan.positions[node] == len(ancestors) - 1


def test_models_whose_masks_do_not_work_are_found_out(tiny_models, monkeypatch) -> None:
    """One that takes a mask of this form and ignores it gives other states."""
    backbone = open_backbone(tiny_models["single"])
    plain = type(backbone.model.base_model).forward

    def without_masks(self, *args, **inputs):
        inputs["attention_mask"] = None
        return plain(self, *args, **inputs)

    monkeypatch.setattr(type(backbone.model.base_model), "forward", without_masks)
    lm = PretrainedLM(backbone, 0)
    assert not lm.scorer.takes_masks
    found = lm.score(lm.lay_out([paragraph(TEXTS[0])]))[0]
    monkeypatch.undo()
    other = PretrainedLM(backbone, 0)
    assert_same(found, other.score(other.lay_out([paragraph(TEXTS[0])]))[0])


def test_an_unknown_output_layer_is_refused(tiny_models, monkeypatch) -> None:
    backbone = open_backbone(tiny_models["single"])
    known = Scorer.logits
    monkeypatch.setattr(Scorer, "logits", lambda self, states: 2 * known(self, states))
    with pytest.raises(BackboneError, match="output layer"):
        PretrainedLM(backbone, 0)


@pytest.mark.parametrize(
    ("architecture", "changes"),
    [("gemma2", {"final_logit_softcapping": 3.0, "sliding_window": 128}), ("cohere", {})],
)
def test_other_output_layers_and_sliding_attention(
    architecture: str, changes: dict[str, float], tiny_models
) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    backbone = open_backbone(tiny_models["single"])
    config = AutoConfig.for_model(
        architecture,
        vocab_size=320,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=0,
        **changes,
    )
    torch.manual_seed(1)
    backbone.model = AutoModelForCausalLM.from_config(config).eval()
    lm = PretrainedLM(backbone, 0)
    assert lm.scorer.takes_masks
    assert lm.window == changes.get("sliding_window", 256)
    text = "the mean was 12.5 in 7 " * 10
    found = lm.score(lm.lay_out([paragraph(text)]))[0]
    lm.scorer.takes_masks = False
    assert_same(lm.score(lm.lay_out([paragraph(text)]))[0], found)


def test_what_is_padded_alike_is_of_similar_size() -> None:
    sizes = [5, 40, 7, 6, 38, 100, 90, 8]
    batches = list(in_batches(sizes, 200, 10))
    assert sorted(index for batch in batches for index in batch) == list(range(len(sizes)))
    assert [[sizes[index] for index in batch] for batch in batches] == [
        [5, 6, 7, 8],
        [38, 40],
        [90, 100],
    ]
    assert list(in_batches(sizes, 1, 10)) == [[index] for index in np.argsort(sizes)]
    assert not list(in_batches([], 1, 1))
