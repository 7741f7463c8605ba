"""`numerate train`: a run with its progress on the terminal."""

import os
from pathlib import Path
from typing import Any

from numerate.training.loop import Reporter
from numerate.training.options import TrainingOptions
from numerate.training.report import Reporters, TensorBoardReporter, TerminalReporter
from numerate.training.run import RunResult, train


def train_with_progress(
    dataset: Path,
    out: Path,
    *,
    model: str,
    options: TrainingOptions,
    tensorboard: bool,
    **choices: Any,
) -> RunResult | None:
    main_process = os.environ.get("RANK", "0") == "0"  # set by `accelerate launch`
    if not main_process:
        return train(dataset, out, model=model, options=options, **choices)
    with TerminalReporter(model) as terminal:
        reporters: list[Reporter] = [terminal]
        if tensorboard:
            reporters.append(TensorBoardReporter(out / "tensorboard"))
        result = train(
            dataset, out, model=model, options=options, reporter=Reporters(*reporters), **choices
        )
    if result.vectors:
        print(result.vectors)
    if not result.history:
        print(f"{out}: {result.state} before the first epoch was done")
        return result
    best = result.history[result.best_epoch - 1]
    print(
        f"{out}: {model} {result.state} after {len(result.history)} epochs, best epoch "
        f"{result.best_epoch}: dev loss {best['dev_loss']:.4f}, word perplexity "
        f"{best['dev_word_perplexity']:.2f}, numeral perplexity "
        f"{best['dev_numeral_perplexity']:,.1f}"
    )
    return result
