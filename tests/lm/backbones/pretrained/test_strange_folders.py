"""Folders of pretrained models that somebody has made to hurt are refused in one line."""

import json
import os
from pathlib import Path

import pytest
from tests.lm.backbones.pretrained.conftest import save
from tests.lm.backbones.pretrained.test_backbone import add_adapter
from tests.strange_places import asked

from numerate.errors import BackboneError
from numerate.lm.backbones.pretrained.backbone import open_backbone

__all__ = ["asked"]
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return save(tmp_path / "tiny", "single")


def change(path: Path, **entries: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.parametrize("name", ["config.json", "adapter_config.json"])
@pytest.mark.parametrize("written", [DEEP, "null", '{"a": ' + "9" * 5000 + "}", '{"a": 1, "a": 2}'])
def test_spoilt_json(tiny: Path, name: str, written: str) -> None:
    (tiny / name).write_text(written)
    with pytest.raises(BackboneError, match=name):
        open_backbone(tiny)


@pytest.mark.parametrize(
    "name", ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors", "x.py"]
)
def test_a_fifo_is_not_waited_for(tiny: Path, name: str) -> None:
    (tiny / name).unlink(missing_ok=True)
    os.mkfifo(tiny / name)
    with pytest.raises(BackboneError, match="tiny"):
        open_backbone(tiny)


def test_an_adapter_does_not_lead_elsewhere(tiny: Path, asked: list[str]) -> None:
    change(
        add_adapter(tiny) / "adapter_config.json", base_model_name_or_path="http://127.0.0.1:9/m"
    )
    assert open_backbone(tiny).model is not None
    assert asked == []


def test_an_adapter_does_not_choose_what_is_imported(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PEFT imports the module that `megatron_core` names."""
    (tmp_path / "megatron_of_a_stranger.py").write_text("raise SystemExit('executed')")
    monkeypatch.syspath_prepend(tmp_path)
    about = {"megatron_config": {"x": 1}, "megatron_core": "megatron_of_a_stranger"}
    change(add_adapter(tiny) / "adapter_config.json", **about)
    with pytest.raises(BackboneError, match="megatron_config: names code to be imported"):
        open_backbone(tiny)
