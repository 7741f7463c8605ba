"""Spoilt folders of pretrained models, opened as `hf:PATH` is."""

import json
import random
import shutil
import sys
from pathlib import Path

from fuzzing.datasets import damage_bytes, replace_file
from fuzzing.kind import Setting
from fuzzing.records import change_record, spoil
from numerate.lm.backbones.pretrained.backbone import open_backbone

HOSTILE = (
    {"_attn_implementation": "somebody/kernel"},
    {"attn_implementation": {"": "somebody/kernel@main"}},
    {"auto_map": {"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Own"}},
    {"transformers_weights": "../other.safetensors"},
    {"quantization_config": {"quant_method": "gptq", "bits": 4}},
    {"model_type": "bert"},
)


def add_hostile_key(folder: Path, chance: random.Random) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | chance.choice(HOSTILE)))


DAMAGES = (change_record, change_record, add_hostile_key, damage_bytes, replace_file)


class Models:
    """A tiny Llama, as the tests have it."""

    share = 0.3

    def __init__(self, setting: Setting) -> None:
        sys.path.insert(0, str(Path(__file__).parents[2]))
        from tests.lm.backbones.pretrained.conftest import save

        self._model = save(setting.workspace / "model", "single")

    def damage(self, chance: random.Random, folder: Path) -> str:
        shutil.copytree(self._model, folder / "model")
        return spoil(folder / "model", DAMAGES, chance)

    def use(self, folder: Path) -> str:
        open_backbone(folder / "model")
        return "opened"
