"""What a run over a pretrained model trains: a head, on states computed once or anew."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from numerate.batching import Corpus
from numerate.corpus.dataset import Dataset
from numerate.errors import NumerateError, check_choice
from numerate.heads.mixture_fit import Components
from numerate.model.stored import ModelConfig
from numerate.pretrained.backbone import open_backbone
from numerate.pretrained.corpora import StateCorpus, TextCorpus
from numerate.pretrained.head_model import HeadModel, check_head_name
from numerate.pretrained.language_model import PretrainedLM, read_paragraphs
from numerate.pretrained.store import Progress, Store, default_cache
from numerate.pretrained.tuning import FINETUNE, add_adapters

SPLITS = ("train", "dev")


@dataclass(frozen=True, slots=True)
class BackboneChoice:
    """Which pretrained model, and what is done with it."""

    path: Path
    finetune: str = "none"
    cache: Path | None = None
    trust_remote_code: bool = False
    progress: Progress | None = None
    networks: int = 1  # that adapt the language model's digits

    def __post_init__(self) -> None:
        check_choice("value of finetune", self.finetune, FINETUNE)
        if self.networks < 1:
            raise NumerateError(f"networks: got {self.networks}, expected 1 or more")


def over_backbone(
    choice: BackboneChoice,
    dataset: Dataset,
    corpora: dict[str, Corpus],
    config: ModelConfig,
    components: Components | None,
    device: torch.device,
) -> tuple[HeadModel, dict[str, Corpus], dict[str, Any]]:
    """The network, the corpora it is trained on, and what the run shall remember."""
    check_head_name(config.model)
    adapts = config.model == "combination" and choice.finetune == "none"  # the model's digits
    if choice.networks > 1 and not adapts:
        raise NumerateError(
            f"networks: got {choice.networks} for {config.model} with finetune {choice.finetune}; "
            "they adapt digits in a combination over a frozen backbone"
        )
    opened = open_backbone(choice.path, device=device, trust_remote_code=choice.trust_remote_code)
    lm = PretrainedLM(opened)
    found: dict[str, Corpus] = {}
    if choice.finetune == "none":
        store = Store(choice.cache or default_cache(), lm, dataset)
        for name in SPLITS:
            split = store.split(name)
            split.fill(progress=choice.progress, detailed=adapts)
            found[name] = StateCorpus(corpora[name], dataset.split(name), split, detailed=adapts)
    else:
        paragraphs = {name: read_paragraphs(dataset.split(name)) for name in SPLITS}
        lm.choose_start(paragraphs["train"])
        add_adapters(opened.model, choice.finetune)
        for name in SPLITS:
            found[name] = TextCorpus(corpora[name], dataset.split(name), paragraphs[name], lm)
    network = HeadModel(
        config,
        corpora["train"].vocabulary,
        components,
        lm.scorer.state_size,
        lm.scorer.classes,
        None if choice.finetune == "none" else lm,
        choice.networks,
    )
    about = {
        "path": str(opened.path),
        "digest": opened.digest,
        "start": lm.start,
        "layers": lm.scorer.layers,
        "finetune": choice.finetune,
    }
    if adapts:
        about["networks"] = choice.networks
    return network, found, {"backbone": about}
