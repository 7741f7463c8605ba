"""Adapters that are merged into their layers' weights say, and learn, what they do beside them."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from numerate.lm.backbones.pretrained.backbone import add_adapters, open_backbone
from numerate.lm.backbones.pretrained.merged_adapters import AdaptedLayers

pytest.importorskip("peft")


@pytest.fixture
def model(tiny_models: dict[str, Path]) -> Any:
    found = open_backbone(tiny_models["single"]).model
    add_adapters(found, "lora")
    found.double()
    torch.manual_seed(1)
    for name, weight in found.named_parameters():
        if "lora_B" in name:  # nothing at first
            torch.nn.init.normal_(weight, std=0.1)
    return found


def states(model: Any) -> Tensor:
    tokens = torch.arange(1, 41).view(2, 20)
    return model.base_model(input_ids=tokens, use_cache=False).last_hidden_state  # type: ignore[no-any-return]


def gradients(model: Any, found: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    (found**3).sum().backward()  # type: ignore[no-untyped-call]
    return {name: one.grad.clone() for name, one in model.named_parameters() if one.requires_grad}


def test_states_and_gradients_are_those_of_adapters_beside_the_weights(model: Any) -> None:
    beside = states(model)
    expected = gradients(model, beside)
    adapted = AdaptedLayers(model)
    with adapted.using(adapted.merged()):
        merged = states(model)
    found = gradients(model, merged)
    torch.testing.assert_close(merged, beside)
    assert found.keys() == expected.keys()
    for name in expected:
        torch.testing.assert_close(found[name], expected[name])


def test_outside_everything_is_as_before(model: Any) -> None:
    adapted = AdaptedLayers(model)
    before = states(model)
    with adapted.using([0 * weight for weight in adapted.merged()]):
        nothing = states(model)
    assert (before - nothing).abs().max() > 0.1
    assert torch.equal(states(model), before)


def test_merged_for_good_nothing_is_left_to_merge(model: Any) -> None:
    beside = states(model).detach()
    adapted = AdaptedLayers(model)
    assert adapted.merged()
    adapted.merge_for_good()
    assert adapted.merged() == []
    torch.testing.assert_close(states(model).detach(), beside)


def test_layers_with_dropout_or_frozen_adapters_are_left_alone(
    tiny_models: dict[str, Path],
) -> None:
    from peft import LoraConfig, inject_adapter_in_model

    dropped = open_backbone(tiny_models["single"]).model
    inject_adapter_in_model(LoraConfig(r=2, lora_dropout=0.5, target_modules="all-linear"), dropped)
    assert AdaptedLayers(dropped).merged() == []
    frozen = open_backbone(tiny_models["single"]).model
    add_adapters(frozen, "lora")
    frozen.requires_grad_(False)
    assert AdaptedLayers(frozen).merged() == []
