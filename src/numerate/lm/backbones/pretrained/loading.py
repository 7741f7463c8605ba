"""Load model and tokenizer through transformers, strictly.

transformers is lenient where we cannot be: it draws missing weights at random, makes a tokenizer
out of nothing, and takes an encoder for a decoder. Each of these would give figures that look
like figures, so each is refused here.
"""

import functools
import io
import tempfile
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import BackboneError, NumerateError, one_line
from numerate.lm.backbones.pretrained.files import ADAPTER, ADAPTER_WEIGHTS, has_adapter, needs_code

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

_ONE_AT_A_TIME = threading.Lock()
"""What is changed while a model loads belongs to all threads: the standard streams, transformers'
log, functions of gguf. Of two at once, the second would restore what the first had changed."""


def load(
    path: Path, *, device: "str | torch.device" = "cpu", trust_remote_code: bool = False
) -> "tuple[PreTrainedModel, PreTrainedTokenizerFast]":
    """The model, in float32, and the tokenizer at `path`, of which the files have been checked."""
    with _ONE_AT_A_TIME, _quiet(), _source(path) as source:
        config = _open_config(path, source, trust_remote_code)
        tokenizer = _open_tokenizer(path, source, trust_remote_code)
        if path.is_file():
            _mark_ends(path, tokenizer, config, source)
        model = _open_model(path, source, config, trust_remote_code)
        if has_adapter(path):
            _add_adapter(path, model)
    _check_finite(path, model)
    _check_fit(path, tokenizer, model)
    model.to(device).eval()
    _check_forward(path, model)
    return model, tokenizer


@contextmanager
def _quiet() -> Iterator[None]:
    """transformers warns, reports and draws bars while it loads; what matters is raised."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(io.StringIO()),
            redirect_stderr(io.StringIO()),  # some bars obey nothing else
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def _source(path: Path) -> Iterator[dict[str, Any]]:
    """Where transformers shall look, and that it shall look nowhere else.

    Beside a GGUF file it would also read whatever other configuration and tokenizer lie in the
    folder, so the file is shown to it alone. With an adapter it would report on that and not on
    the weights, so these are shown to it without one.
    """
    if path.is_dir() and not has_adapter(path):
        yield {"pretrained_model_name_or_path": str(path), "local_files_only": True}
        return
    if path.is_dir():
        with tempfile.TemporaryDirectory() as alone:
            for file in path.iterdir():
                if file.name not in {ADAPTER, ADAPTER_WEIGHTS}:
                    (Path(alone) / file.name).symlink_to(file)
            yield {"pretrained_model_name_or_path": alone, "local_files_only": True}
        return
    with tempfile.TemporaryDirectory() as alone, _read_once():
        (Path(alone) / "model.gguf").symlink_to(path)
        yield {
            "pretrained_model_name_or_path": alone,
            "gguf_file": "model.gguf",
            "local_files_only": True,
        }


@contextmanager
def _read_once() -> Iterator[None]:
    """A third of the time to open a GGUF file.

    transformers parses the file for the configuration, the tokenizer and the weights, and makes
    the table of names anew for every tensor; both are pure functions of what they are given. The
    parser cuts each of 100,000 strings out of the file's map; to cut an array costs less.
    """
    import gguf
    import numpy as np

    class PlainReader(gguf.GGUFReader):  # type: ignore[misc]
        @property
        def data(self) -> Any:
            return self._plain

        @data.setter
        def data(self, mapped: Any) -> None:
            self._plain = mapped.view(np.ndarray)

    names = ("GGUFReader", "get_tensor_name_map")
    slow = {name: getattr(gguf, name) for name in names}
    fast = dict(zip(names, (PlainReader, gguf.get_tensor_name_map), strict=True))
    for name, function in fast.items():
        setattr(gguf, name, functools.cache(function))
    try:
        yield
    finally:
        for name, function in slow.items():
            setattr(gguf, name, function)


@contextmanager
def _explained(path: Path, what: str) -> Iterator[None]:
    """Whatever transformers raises over what it reads, as one line that names the place."""
    try:
        yield
    except NumerateError:
        raise
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise needs_code(path) from None
        reason = one_line(error) or type(error).__name__
        broken = path.is_file() and "supported" not in reason  # parsers of GGUF just stumble
        cause = "broken or cut short, " if broken else ""
        raise BackboneError(f"{path}: {cause}cannot read {what}: {reason}") from None


def _open_config(path: Path, source: dict[str, Any], trust_remote_code: bool) -> Any:
    """The configuration, if it is that of a causal language model that may be opened."""
    from transformers import AutoConfig

    with _explained(path, "its configuration"):
        config = AutoConfig.from_pretrained(**source, trust_remote_code=trust_remote_code)
        _check_causal(path, config, trust_remote_code)
    return config


def _check_causal(path: Path, config: Any, trust_remote_code: bool) -> None:
    """Refuse encoders, also those that transformers would open as if they were decoders.

    A family that also fills in masks (BERT, RoBERTa) looks both ways, unless it says that this
    member is a decoder.
    """
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    family, named = config.model_type, getattr(config, "architectures", None) or []
    expected = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(family)
    own_code = getattr(config, "auto_map", None) or {}
    if expected not in named and "AutoModelForCausalLM" in own_code:
        if not trust_remote_code:
            raise needs_code(path)
        return
    encodes = family in MODEL_FOR_MASKED_LM_MAPPING_NAMES or config.is_encoder_decoder
    both_ways = encodes and not getattr(config, "is_decoder", False)
    if both_ways or expected is None or (named and expected not in named):
        raise _not_causal(path, ", ".join(named) or family)


def _not_causal(path: Path, kind: str) -> BackboneError:
    return BackboneError(f"{path}: got {kind}, expected a causal language model")


def _open_tokenizer(path: Path, source: dict[str, Any], trust_remote_code: bool) -> Any:
    from transformers import AutoTokenizer

    with _explained(path, "its tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(**source, trust_remote_code=trust_remote_code)
    if not getattr(tokenizer, "is_fast", False):
        raise BackboneError(
            f"{path}: its tokenizer ({type(tokenizer).__name__}) gives no offsets, "
            "expected a fast one (tokenizer.json)"
        )
    with _explained(path, "its tokenizer"):
        digits = tokenizer("0123456789", add_special_tokens=False)["input_ids"]
    if not digits or tokenizer.unk_token_id in digits:
        raise BackboneError(f"{path}: its tokenizer cannot write digits")
    return tokenizer


def _mark_ends(path: Path, tokenizer: Any, config: Any, source: dict[str, Any]) -> None:
    """As the GGUF file says: some versions take the start of a text for its end, and none looks
    whether a text has one.
    """
    import gguf

    for name in ("bos", "eos"):
        token = getattr(config, f"{name}_token_id")
        if isinstance(token, int):
            setattr(tokenizer, f"{name}_token", tokenizer.convert_ids_to_tokens(token))
    with _explained(path, "its tokenizer"):
        reader = gguf.GGUFReader("{pretrained_model_name_or_path}/{gguf_file}".format(**source))
        adds_start = reader.get_field(gguf.Keys.Tokenizer.ADD_BOS)
        if adds_start is not None and bool(adds_start.contents()):
            tokenizer.add_bos_token = True


def _open_model(
    path: Path, source: dict[str, Any], config: Any, trust_remote_code: bool
) -> "PreTrainedModel":
    """The model with every weight from the file, none left to chance."""
    import torch
    import transformers

    options: dict[str, Any] = {"use_safetensors": True}
    if path.is_file():
        options = {}
        if hasattr(transformers, "GgufConfig"):  # newer versions would look for kernels online
            options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    with _explained(path, "its weights"):
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            **source,
            **options,
            config=config,
            dtype=torch.float32,
            trust_remote_code=trust_remote_code,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # reported, and refused below with their names
        )
    _check_filled(path, "weights", report["missing_keys"], report["mismatched_keys"])
    return model


def _check_filled(path: Path, what: str, missing: set[str], mismatched: set[Any]) -> None:
    if mismatched:
        name, found, expected = min(mismatched)
        raise BackboneError(
            f"{path}: its {what} do not fit the model: {name} has the shape {list(found)}, "
            f"expected {list(expected)}"
        )
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BackboneError(f"{path}: its {what} do not fill the model: no {min(missing)}{more}")


def _add_adapter(path: Path, model: "PreTrainedModel") -> None:
    """The PEFT adapter that lies beside the weights, as strictly as these."""
    try:
        import peft  # noqa: F401
    except ImportError:
        raise NumerateError(f"{path}: its adapter needs peft: pip install 'numerate[hf]'") from None
    with _explained(path, "its adapter"):
        report = model.load_adapter(str(path), ignore_mismatched_sizes=True)
    _check_filled(path, "adapter's weights", report.missing_keys, report.mismatched_keys)


def _check_finite(path: Path, model: "PreTrainedModel") -> None:
    """One weight that is no number can spoil every answer, or only some."""
    for name, weight in model.named_parameters():
        if not weight.isfinite().all():
            raise BackboneError(f"{path}: its weights are not finite: {name}")


def _check_fit(path: Path, tokenizer: Any, model: "PreTrainedModel") -> None:
    rows = model.get_input_embeddings().weight.shape[0]
    if tokenizer.vocab_size > rows:
        raise BackboneError(
            f"{path}: its tokenizer has {tokenizer.vocab_size:,} tokens, its model {rows:,}"
        )


def _check_forward(path: Path, model: "PreTrainedModel") -> None:
    """What a causal model predicts does not change with what comes later."""
    import torch

    tokens = torch.zeros(2, 4, dtype=torch.long, device=model.device)
    tokens[1, -1] = 1
    with torch.inference_mode(), _explained(path, "what it predicts"):
        one, other = model(tokens).logits[:, :-1].float()  # [T, V] each
    if not torch.isfinite(one).all():
        raise BackboneError(f"{path}: its predictions are not finite")
    if not torch.allclose(one, other, rtol=0, atol=1e-3 * one.std().item()):
        raise _not_causal(path, f"{type(model).__name__}, which looks ahead")
