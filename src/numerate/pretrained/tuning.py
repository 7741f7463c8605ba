"""Which weights of a pretrained model are trained: none, low-rank adapters, or all."""

from typing import Any

from torch import nn

from numerate.errors import NumerateError, check_choice

FINETUNE = ("none", "lora", "full")
RANK = 8


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


def trained_weights(model: nn.Module | None) -> set[str]:
    if model is None:
        return set()
    return {name for name, weight in model.named_parameters() if weight.requires_grad}
