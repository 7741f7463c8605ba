"""Spoilt runs, opened by everything that opens a run."""

import random
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from fuzzing.datasets import damage_bytes, replace_file
from fuzzing.kind import Setting
from fuzzing.records import change_record, spoil
from numerate.errors import NumerateError
from numerate.lm.data.prepare import prepare
from numerate.lm.evaluate.evaluate import evaluate
from numerate.lm.evaluate.remembered import read_evaluation
from numerate.lm.evaluate.result_tables import result_tables
from numerate.lm.inspect.runs import open_runs
from numerate.lm.model.load import load
from numerate.lm.model.run_folder import RunFolder
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.run import train

TEXT = "The ejection fraction is 55 % and the volume 143.5 ml."
MODELS = ("mog", "h-softmax+rnn")
SIZES = {"vocabulary": 60, "hidden": 4, "device": "cpu"}
OPTIONS = TrainingOptions(epochs=1, batch_size=20)


DAMAGES = (change_record, change_record, change_record, damage_bytes, replace_file)


class Runs:
    """Of a closed and of an open vocabulary, each used before, so that every file is there."""

    share = 1.0

    def __init__(self, setting: Setting) -> None:
        self._dataset = setting.workspace / "data"
        prepare("cardiac", self._dataset, documents=30, processes=1)
        self._runs = []
        for model in MODELS:
            run = setting.workspace / model
            train(self._dataset, run, model=model, options=OPTIONS, **SIZES)  # type: ignore[arg-type]
            evaluate(run, metrics="all", device="cpu").save()
            _ = load(run, say=_silent).checker.calibration
            self._runs.append(run)

    def damage(self, chance: random.Random, folder: Path) -> str:
        shutil.copytree(chance.choice(self._runs), folder / "run")
        return spoil(folder / "run", DAMAGES, chance)

    def use(self, folder: Path) -> str:
        run = folder / "run"
        stored = RunFolder(run)
        refused = 0
        uses: list[Callable[[], object]] = [
            lambda: self._evaluate(run),
            lambda: self._ask(run),
            lambda: open_runs([run], self._dataset, "cpu", limit=2),
            lambda: (found := read_evaluation(run)) and result_tables([found]),
            lambda: self._train(run, chance="resume"),
            lambda: self._train(run, chance="force"),
            stored.open_dataset,
        ]
        for use in uses:
            try:
                with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                    use()
            except (NumerateError, OSError) as error:  # the command line has one line for both
                if not str(error).isprintable():
                    raise AssertionError(f"an error of several lines: {str(error)!r}") from error
                refused += 1
        return "refused" if refused == len(uses) else "used"

    def _evaluate(self, run: Path) -> None:
        found = evaluate(run, self._dataset, limit=2, device="cpu")
        with suppress(OSError):  # that it was not saved is said, and no more
            found.save()

    def _ask(self, run: Path) -> None:
        model = load(run, self._dataset, say=_silent)
        model.predict("The ejection fraction is").top(1)
        model.rank([TEXT, TEXT.replace("55", "550")])
        model.checker.assess(TEXT, 0.1)

    def _train(self, run: Path, chance: str) -> None:
        how = {chance: True}
        train(self._dataset, run, model="mog", options=OPTIONS, **SIZES, **how)  # type: ignore[arg-type]


def _silent(message: str) -> None:
    pass
