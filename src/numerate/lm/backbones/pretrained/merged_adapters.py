"""Low-rank adapters as one multiplication a layer instead of three.

A layer's weight W and its adapter are W + s·B·A. Put together first, for all layers of a shape at
once, they cost a model no more steps than it takes without adapters; the steps of a small model
are too short to keep a GPU busy, so that their number counts.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class AdaptedLayers:
    """Those linear layers of a model that have an adapter of low rank in training, and nothing
    else."""

    def __init__(self, model: nn.Module) -> None:
        groups: dict[tuple[object, ...], list[Any]] = {}
        layers: list[Any] = [layer for layer in model.modules() if _is_adapted(layer)]
        for layer in layers:
            weight = layer.base_layer.weight
            groups.setdefault((weight.shape, weight.dtype, _scale(layer)), []).append(layer)
        self._groups = list(groups.values())

    def merge_for_good(self) -> None:
        """Where nothing is trained any more."""
        for layers in self._groups:
            for layer in layers:
                layer.merge()
        self._groups = []

    def merged(self) -> list[Tensor]:
        """Their weights with their adapters', as they are now; gradients reach the adapters."""
        found: list[Tensor] = []
        for layers in self._groups:
            weights = torch.stack([layer.base_layer.weight for layer in layers])
            first, last = (
                torch.stack([_weight(part) for part in parts])
                for parts in zip(*((one.lora_A, one.lora_B) for one in layers), strict=True)
            )
            found += torch.baddbmm(weights, last, first, alpha=_scale(layers[0])).unbind(0)
        return found

    @contextmanager
    def using(self, weights: Sequence[Tensor]) -> Iterator[None]:
        """Within, the model multiplies by these."""
        layers = [layer for layers in self._groups for layer in layers]
        for layer, weight in zip(layers, weights, strict=True):
            layer.forward = partial(F.linear, weight=weight, bias=layer.base_layer.bias)
        try:
            yield
        finally:
            for layer in layers:
                vars(layer).pop("forward", None)  # another thread may have been here


def _is_adapted(layer: Any) -> bool:
    if not isinstance(getattr(layer, "base_layer", None), nn.Linear) or not hasattr(layer, "r"):
        return False
    names = layer.active_adapters
    return (
        list(layer.lora_A) == names
        and not layer.merged
        and len(names) == 1
        and _weight(layer.lora_A).requires_grad
        and isinstance(layer.lora_dropout[names[0]], nn.Identity)
        and not layer.lora_variant
        and _weight(layer.lora_A).dtype == layer.base_layer.weight.dtype
    )


def _weight(part: Any) -> Tensor:
    (only,) = part.values()
    return only.weight  # type: ignore[no-any-return]


def _scale(layer: Any) -> float:
    (only,) = layer.scaling.values()
    return float(only)
