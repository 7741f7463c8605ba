"""Tiny random causal language models, made on the spot, one for each kind of tokenizer.

`single`     digits one by one, the space before a number a token of its own (as SmolLM2)
`glued`      several digits in a token, the space in the first one (as GPT-2)
`metaspace`  `▁` for spaces, digits one by one, a start symbol added (as Llama 2)
`mixed`      tokens of digits and letters or marks (`5mg`, `10%`)

Weights are drawn widely, so that the distributions are far from even.
"""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from numerate.lm.backbones.pretrained.backbone import Backbone, open_backbone
from numerate.lm.backbones.pretrained.language_model import PretrainedLM
from numerate.lm.backbones.pretrained.layout import Paragraph
from numerate.lm.heads.digit_adapter import DigitAdapter
from numerate.text.tokenizer import tokenize

KINDS = ("single", "glued", "metaspace", "mixed")
START, END, UNKNOWN = "<s>", "</s>", "<unk>"


def sentences(kind: str) -> list[str]:
    """Text to learn a vocabulary from: the more often a number is written, the fewer tokens."""
    draw = random.Random(1)
    numbers = [str(n) for n in range(100)] + ["100", "120", "123", "250", "2000", "0.5", "12.5"]
    texts = []
    for _ in range(800):
        number, other = draw.choice(numbers), draw.choice(numbers)
        if kind == "mixed":
            unit = draw.choice(["mg", "%", "ml"])
            texts.append(f"{other}mg, then 5mg or 10% or {number}{unit} a day")
        else:
            texts.append(f"the mean was {number} (from {other} to {other}-{number}) in {other}")
    return texts


def bytes_tokenizer(kind: str) -> Tokenizer:
    """BPE over bytes; what may become one token is decided by what is split before."""
    split: dict[str, list[Any]] = {
        "single": [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ],
        "glued": [pre_tokenizers.ByteLevel(add_prefix_space=False)],
        "mixed": [
            pre_tokenizers.Split(Regex(r"\s?\S+|\s+"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ],
    }
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(split[kind])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size={"single": 320, "glued": 480, "mixed": 500}[kind],
        special_tokens=[START, END],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences(kind), trainer)
    return tokenizer


def metaspace_tokenizer() -> Tokenizer:
    """BPE over characters; what it has never seen it writes byte by byte."""
    before = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first"),
            pre_tokenizers.Digits(individual_digits=True),
        ]
    )
    learner = Tokenizer(models.BPE(unk_token=UNKNOWN))
    learner.pre_tokenizer = before
    trainer = trainers.BpeTrainer(
        vocab_size=120,
        special_tokens=[UNKNOWN, START, END],
        initial_alphabet=list("▁0123456789.,%"),
        show_progress=False,
    )
    learner.train_from_iterator(sentences("metaspace"), trainer)
    learned = json.loads(learner.to_str())["model"]
    vocabulary = dict(learned["vocab"])
    for byte in range(256):
        vocabulary[f"<0x{byte:02X}>"] = len(vocabulary)
    merges = [tuple(merge) for merge in learned["merges"]]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token=UNKNOWN, byte_fallback=True))
    tokenizer.pre_tokenizer = before
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens([UNKNOWN, START, END])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A", special_tokens=[(START, vocabulary[START])]
    )
    return tokenizer


def make_tokenizer(kind: str) -> PreTrainedTokenizerFast:
    tokenizer = metaspace_tokenizer() if kind == "metaspace" else bytes_tokenizer(kind)
    unknown = {"unk_token": UNKNOWN} if kind == "metaspace" else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=START, eos_token=END, **unknown
    )


def make_model(architecture: str, tokenizer: PreTrainedTokenizerFast, **changes: Any) -> Any:
    shared = {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "initializer_range": 0.3,
    }
    torch.manual_seed(1)
    if architecture == "gpt2":
        sizes = {"n_layer": 2, "n_embd": 32, "n_head": 4, "n_positions": 256}
        return GPT2LMHeadModel(GPT2Config(**{**shared, **sizes, **changes}))
    sizes = {
        "num_hidden_layers": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
    }
    return LlamaForCausalLM(LlamaConfig(**{**shared, **sizes, **changes}))


def save(folder: Path, kind: str, architecture: str = "llama", **changes: Any) -> Path:
    """A folder as a user would have it; `changes` go to the configuration."""
    tokenizer = make_tokenizer(kind)
    make_model(architecture, tokenizer, **changes).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders by kind of tokenizer, each with a Llama; `gpt2` is a GPT-2 with `glued`."""
    home = tmp_path_factory.mktemp("pretrained")
    folders = {kind: save(home / kind, kind) for kind in KINDS}
    return {**folders, "gpt2": save(home / "gpt2", "glued", "gpt2")}


@pytest.fixture
def make_tiny(tmp_path: Path) -> Callable[..., Path]:
    """Make one more, with another configuration, in a folder that a test may spoil."""

    def make(kind: str = "single", architecture: str = "llama", **changes: Any) -> Path:
        return save(tmp_path / "model", kind, architecture, **changes)

    return make


@pytest.fixture(scope="session")
def language_models(tiny_models: dict[str, Path]) -> dict[str, PretrainedLM]:
    """The same, opened, with a start symbol. Digits and their like are made likely, so that
    numerals begin and go on often enough to matter."""
    found = {}
    for kind, folder in tiny_models.items():
        backbone = open_backbone(folder)
        old = backbone.model.get_output_embeddings()
        new = torch.nn.Linear(old.in_features, old.out_features)
        likely = [re.match("[^<]?[0-9.,]", token) is not None for token in vocabulary(backbone)]
        with torch.no_grad():
            new.weight.copy_(old.weight)
            new.bias.copy_(torch.tensor(likely) * 2.5)
        backbone.model.set_output_embeddings(new)
        found[kind] = PretrainedLM(backbone, backbone.tokenizer.bos_token_id)
    return found


def vocabulary(backbone: Backbone) -> list[str]:
    return backbone.tokenizer.convert_ids_to_tokens(range(len(backbone.tokenizer)))


def paragraph(text: str) -> Paragraph:
    """A text as a dataset has it."""
    return Paragraph.of(text, tokenize(text))


def shaken(lm: PretrainedLM) -> DigitAdapter:
    """An adapter that moves every digit."""
    torch.manual_seed(1)
    adapter = DigitAdapter(lm.scorer.state_size, 8, 0.0).eval()
    with torch.no_grad():
        for weight in adapter.parameters():
            weight.normal_(0, 0.5)
    return adapter
