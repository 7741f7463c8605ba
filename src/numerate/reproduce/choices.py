"""What is to be done, how, and where; and what of it is done already."""

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from numerate.errors import NumerateError, RunError
from numerate.heads.registry import check_head_name, paper_heads
from numerate.training.options import TrainingOptions


@dataclass(frozen=True, slots=True)
class Plan:
    """All choices of one reproduction; the folder of every result follows from them."""

    dataset: Path
    out: Path
    models: tuple[str, ...] = field(default_factory=paper_heads)
    options: TrainingOptions = field(default_factory=TrainingOptions)
    vocabulary: int = 1000
    hidden: int = 50
    dropout: float = 0.1
    truncate: bool = False
    vectors: str | None = None
    device: str | None = None
    processes: int = 0  # 0: one per core, one thread each, which is faster than the reverse
    given_threads: int | None = None  # for each process; None: they share the cores
    confidence: float | None = 0.95
    everything: bool = True  # also the figures beyond the paper

    def __post_init__(self) -> None:
        if not self.models:
            raise NumerateError(f"models: got none, expected some of {', '.join(paper_heads())}")
        for model in self.models:
            check_head_name(model)
        if len(set(self.models)) < len(self.models):
            raise NumerateError(f"models: got one twice in {', '.join(self.models)}")
        if self.processes < 0:
            raise NumerateError(f"processes: got {self.processes}, expected 0 or more")
        if self.given_threads is not None and self.given_threads < 1:
            raise NumerateError(f"threads: got {self.given_threads}, expected 1 or more")
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise NumerateError(f"confidence: got {self.confidence}, expected between 0 and 1")

    @property
    def workers(self) -> int:
        return min(self.processes or os.cpu_count() or 1, len(self.models))

    @property
    def threads(self) -> int:
        """For each process."""
        return self.given_threads or max(1, (os.cpu_count() or 1) // self.workers)

    def run(self, model: str) -> Path:
        return self.out / "runs" / model

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that makes a run what it is, by the names `numerate train` gives it."""
        return {
            **asdict(self.options),
            "vocabulary": self.vocabulary,
            "hidden": self.hidden,
            "dropout": self.dropout,
            "truncate": self.truncate,
            "vectors": self.vectors,
        }

    def training_arguments(self, model: str) -> list[str]:
        """`numerate train` as it is called for one model; a run that has begun goes on."""
        arguments = ["train", str(self.dataset), "--out", str(self.run(model)), "--resume"]
        for name, value in {"model": model, **self.settings, "device": self.device}.items():
            option = "--" + name.replace("_", "-")
            if value is True:
                arguments.append(option)
            elif value is not None and value is not False:
                arguments.append(f"{option}={value}")
        return arguments

    def is_trained(self, model: str, content_hash: str) -> bool:
        """Whether the run is there and finished; one of other options or data is refused."""
        from numerate.runs.folder import CONFIG, RunFolder

        folder = self.run(model)
        if not (folder / CONFIG).exists():
            return False
        config = RunFolder(folder).config()
        finished = config.state == "finished"
        found = {**asdict(config), **asdict(config.options), **config.training}
        if config.truncate is not None:  # as runs of an earlier version say it
            found["truncate"] = config.truncate
        found["dataset"] = config.dataset and config.dataset.content_hash
        for name, value in {"model": model, "dataset": content_hash, **self.settings}.items():
            may_change = not finished and name in {"epochs", "patience"}
            if found.get(name) != value and not may_change:
                raise RunError(
                    f"{folder}: a run with another {name}: was {found.get(name)!r}, "
                    f"got {value!r}; choose another --out, or remove it"
                )
        return finished
