"""What a run over a pretrained model trains: a head, on states computed once or anew."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from numerate.errors import NumerateError, check_choice
from numerate.lm.backbones.causal import CausalBackbone
from numerate.lm.backbones.causal_batches import StateCorpus, TextCorpus
from numerate.lm.backbones.pretrained.backbone import FINETUNE, add_adapters, open_backbone
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.backbones.pretrained.language_model import (
    PretrainedLM,
    prefixes_of,
    read_paragraphs,
)
from numerate.lm.backbones.pretrained.store import Progress, Store
from numerate.lm.data.batching import Corpus
from numerate.lm.data.dataset import Dataset
from numerate.lm.heads.base import TrainingNumerals
from numerate.lm.heads.registry import head_class, head_names
from numerate.lm.model.config import ModelConfig
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.places import default_cache

SPLITS = ("train", "dev")


@dataclass(frozen=True, slots=True)
class BackboneChoice:
    """Which pretrained model, and what is done with it."""

    path: Path
    finetune: str = "none"
    cache: Path | None = None
    trust_remote_code: bool = False
    progress: Progress | None = None
    readers: Readers | None = None  # who reads a dataset for a frozen one; None: this process

    def __post_init__(self) -> None:
        check_choice("value of finetune", self.finetune, FINETUNE)
        if self.readers is not None and self.finetune != "none":
            raise NumerateError(
                f"finetune {self.finetune}: read anew at every step, so nobody reads ahead; "
                "expected no --processes or --engine (accelerate launch trains on several)"
            )


def over_backbone(
    choice: BackboneChoice,
    dataset: Dataset,
    corpora: dict[str, Corpus],
    config: ModelConfig,
    data: TrainingNumerals,
    device: torch.device,
) -> tuple[NumeralLM, dict[str, Corpus], dict[str, Any]]:
    """The network, the corpora it is trained on, and what the run shall remember."""
    kind = head_class(config.model)
    if kind.flat:
        kinds = {name: head_class(name) for name in head_names()}
        others = ", ".join(n for n, head in kinds.items() if not (head.flat or head.needs_sight))
        raise NumerateError(
            f"model {config.model!r}: words and class gate are the pretrained model's own, "
            f"expected one of {others}"
        )
    frozen = choice.finetune == "none"
    opened = open_backbone(choice.path, device=device, trust_remote_code=choice.trust_remote_code)
    if not frozen:
        add_adapters(opened.model, choice.finetune)
    lm = PretrainedLM(opened)
    data = replace(data, state_size=lm.scorer.state_size, frozen=frozen)
    head = kind.fit(data, config.hidden, config.options)
    adapts = head.digit_adapter() is not None
    found: dict[str, Corpus] = {}
    if frozen:
        folder = choice.cache or default_cache()
        store = Store(folder, lm, dataset, config.sight, choice.readers)
        for name in SPLITS:
            split = store.split(name)
            split.fill(progress=choice.progress, detailed=adapts)
            found[name] = StateCorpus(corpora[name], dataset.split(name), split, detailed=adapts)
    else:
        paragraphs = {name: read_paragraphs(dataset.split(name)) for name in SPLITS}
        lm.choose_start(paragraphs["train"])
        for name in SPLITS:
            texts, some = dataset.split(name), paragraphs[name]
            before = prefixes_of(lm, texts, config.sight, some, dataset.reading)
            found[name] = TextCorpus(corpora[name], texts, some, lm, before)
    size = config.hidden if head.sees_states else None
    backbone = CausalBackbone(
        lm,
        size,
        config.dropout,
        tuned=not frozen,
        sight=config.sight,
        vocabulary=corpora["train"].vocabulary,
    )
    about: dict[str, Any] = {
        "path": opened.place,
        "digest": opened.digest,
        "start": lm.start,
        "layers": lm.scorer.layers,
        "finetune": choice.finetune,
    }
    network = NumeralLM(config, corpora["train"].vocabulary, backbone, head)
    return network, found, {"backbone": about, "network": None}
