"""A pretrained causal language model: opened from a folder or a GGUF file, what it is like, what of
it is trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import BackboneError, NumerateError, RunError, check_choice
from numerate.lm.backbones.pretrained import files, loading
from numerate.places import name_of, place_of
from numerate.storage import here

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

PREFIX = "hf:"
INSTALL = "pip install 'numerate[hf]'"
WINDOW = 1024  # positions of a model whose configuration names no limit
WINDOW_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx")
FINETUNE = ("none", "lora", "full")  # what is trained: nothing, low-rank adapters, all
RANK = 8  # of low-rank adapters


@dataclass(slots=True)
class Backbone:
    """A pretrained model, ready to be asked, and what must be known of it."""

    path: Path
    model: "PreTrainedModel"  # evaluation mode, float32
    tokenizer: "PreTrainedTokenizerFast"
    digest: str
    window: int  # most positions the model can take
    end_ids: tuple[int, ...]  # every token that ends a text
    adds_start: int | None  # what the tokenizer itself puts before a text
    trusted: bool = False  # whether code that comes with it is run

    @property
    def name(self) -> str:
        """A short name for tables. Folders of the hub's cache are named by hash; their owners
        are not."""
        for part in reversed(self.path.parts):
            if part.startswith("models--"):
                return part.rpartition("--")[2]
        return name_of(self.path) if self.path.is_dir() else self.path.stem

    @property
    def place(self) -> str:
        """What is remembered of where it lies."""
        return place_of(self.path) or str(self.path)


def parse_reference(text: str) -> Path | None:
    """Return the path in `hf:PATH`, or None where the text refers to no pretrained model.

    A model on another file system is fetched first."""
    if not text.startswith(PREFIX):
        return None
    if text == PREFIX:
        raise BackboneError(f"{PREFIX}: no path, expected {PREFIX}FOLDER or {PREFIX}FILE.gguf")
    return _fetched(text.removeprefix(PREFIX)).expanduser()


def open_backbone(
    path: Path | str,
    *,
    device: "str | torch.device" = "cpu",
    trust_remote_code: bool = False,
    digest: str | None = None,
) -> Backbone:
    """Open the model at `path`, without the network. With `digest`, only if it is that model."""
    path = _fetched(path).absolute()
    if not path.exists():
        raise BackboneError(f"{path}: does not exist, expected a folder or a GGUF file")
    if path.is_file() and not files.is_gguf(path):
        raise BackboneError(f"{path}: not a GGUF file, expected a folder or a GGUF file")
    _check_installed(path)
    if path.is_dir():
        files.check_folder(path, trusted=trust_remote_code)
    found = files.digest(path)
    if digest is not None and digest != found:
        raise RunError(
            f"{path}: not the pretrained model this run was made with: "
            f"its hash is {found[:12]}, expected {digest[:12]}"
        )
    model, tokenizer = loading.load(path, device=device, trust_remote_code=trust_remote_code)
    text_config = model.config.get_text_config()
    return Backbone(
        path=path,
        model=model,
        tokenizer=tokenizer,
        digest=found,
        window=_window(text_config),
        end_ids=_end_ids(path, model, tokenizer),
        adds_start=_added_start(path, tokenizer),
        trusted=trust_remote_code,
    )


def _fetched(path: Path | str) -> Path:
    return here(path, seals=("config.json",))


def _check_installed(path: Path) -> None:
    try:
        import transformers  # noqa: F401
    except ImportError:
        raise NumerateError(f"{path}: pretrained models need transformers: {INSTALL}") from None
    if path.is_file():
        try:
            import gguf  # noqa: F401
        except ImportError:
            raise NumerateError(f"{path}: GGUF files need the package gguf: {INSTALL}") from None


def _window(config: Any) -> int:
    stated = (getattr(config, name, None) for name in WINDOW_NAMES)
    return next((n for n in stated if isinstance(n, int) and n > 0), WINDOW)


def _end_ids(path: Path, model: "PreTrainedModel", tokenizer: Any) -> tuple[int, ...]:
    """Models with several ends name one here and another there."""
    found: set[int] = set()
    for owner in (model.config.get_text_config(), model.generation_config, tokenizer):
        ids = getattr(owner, "eos_token_id", None)
        several = ids if isinstance(ids, list) else [] if ids is None else [ids]
        if not all(type(token) is int for token in several):
            raise BackboneError(f"{path}: eos_token_id: got {ids!r}, expected whole numbers")
        found.update(several)
    return tuple(sorted(found))


def _added_start(path: Path, tokenizer: Any) -> int | None:
    encoding = tokenizer("0", return_special_tokens_mask=True)
    added = []
    for token, special in zip(encoding["input_ids"], encoding["special_tokens_mask"], strict=True):
        if not special:
            break
        added.append(token)
    if len(added) > 1:
        raise BackboneError(
            f"{path}: its tokenizer puts {len(added)} tokens before a text, expected one at most"
        )
    return added[0] if added else None


def add_adapters(model: Any, finetune: str) -> None:
    """Make the backbone trainable in place."""
    check_choice("finetune", finetune, FINETUNE)
    if finetune != "none" and getattr(model, "peft_config", None):
        raise NumerateError(
            f"finetune {finetune}: the pretrained model has an adapter already; merge it first"
        )
    model.requires_grad_(finetune == "full")
    if finetune != "lora":
        return
    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise NumerateError("--finetune lora needs peft: pip install 'numerate[hf]'") from None
    config = LoraConfig(
        r=RANK, lora_alpha=2 * RANK, lora_dropout=0.0, target_modules="all-linear", bias="none"
    )
    inject_adapter_in_model(config, model)


def trained_weights(model: "nn.Module | None") -> set[str]:
    if model is None:
        return set()
    return {name for name, weight in model.named_parameters() if weight.requires_grad}
