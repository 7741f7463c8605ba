"""`numerate train`: a run with its progress on the terminal."""

import math
import os
from pathlib import Path
from typing import Any

from numerate.errors import NumerateError, counted, printable
from numerate.lm.backbones.pretrained.backbone import parse_reference
from numerate.lm.backbones.pretrained.block_reader import Readers
from numerate.lm.model.config import NetworkConfig
from numerate.lm.train.loop import Reporter
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice
from numerate.lm.train.report import Reporters, TensorBoardReporter, TerminalReporter
from numerate.lm.train.run import RunResult, train
from numerate.places import as_place, is_remote, local_path, work_of
from numerate.reports.progress import PassProgress


def train_with_progress(
    dataset: str | Path,
    out: str | Path,
    *,
    model: str,
    options: TrainingOptions,
    tensorboard: bool,
    backbone: str = "lstm",
    layers: int | None = None,
    heads: int | None = None,
    inputs: str | None = None,
    finetune: str = "none",
    cache: Path | None = None,
    trust_remote_code: bool = False,
    readers: Readers | None = None,
    **choices: Any,
) -> RunResult:
    path = parse_reference(backbone)
    asked: dict[str, Any] = {"layers": layers, "heads": heads, "inputs": inputs}
    chosen = {name: value for name, value in asked.items() if value is not None}
    if path is None:
        wrong = f"got backbone {backbone}, expected a pretrained one, hf:PATH"
        if finetune != "none":
            raise NumerateError(f"finetune {finetune}: {wrong}")
        if readers is not None:
            raise NumerateError(f"workers that read (--processes, --engine): {wrong}")
        choices["backbone"] = NetworkConfig(backbone, **chosen)
    elif chosen:
        name, value = next(iter(chosen.items()))
        raise NumerateError(f"{name}: got {value}, but a pretrained backbone has its own")
    with PassProgress() as progress, TerminalReporter(model) as terminal:
        if path is not None:
            choices["backbone"] = BackboneChoice(
                path, finetune, cache, trust_remote_code, progress, readers
            )
        reporters: list[Reporter] = []
        if os.environ.get("RANK", "0") == "0":  # set by `accelerate launch`
            reporters.append(terminal)
            if tensorboard:
                folder = work_of(out) if is_remote(out) else local_path(out)
                reporters.append(TensorBoardReporter(folder))
        reporter = Reporters(*reporters)
        result = train(dataset, out, model=model, options=options, reporter=reporter, **choices)
    if reporters:
        _print_result(model, result)
        if result.folder != as_place(out):
            stays = "stays as it was; --resume goes on with what shall replace it"
            print(printable(f"{out}: {stays}"))
    return result


def _print_result(model: str, result: RunResult) -> None:
    if result.vectors:
        print(printable(result.vectors))
    if not result.history:
        print(f"{printable(result.folder)}: {result.state} before the first epoch was done")
        return
    best = result.history[result.best_epoch - 1]
    epochs = counted(len(result.history), "epoch")
    print(
        f"{printable(result.folder)}: {model} {result.state} after {epochs}, "
        f"best epoch {result.best_epoch}: dev loss {best['dev_loss']:.4f}, word perplexity "
        f"{best['dev_word_perplexity']:.2f}, numeral perplexity "
        f"{best['dev_numeral_perplexity']:,.1f}"
    )
    if weights := result.mixture_weights:
        perplexity = best["dev_numeral_perplexity"] * math.exp(-weights.gain)
        fitted = f"fitted on dev: numeral perplexity {perplexity:,.1f} by cross-validation"
        trained = "stay as they were trained: no clear gain on dev"
        print(f"mixture weights {fitted if weights.strength else trained}")
