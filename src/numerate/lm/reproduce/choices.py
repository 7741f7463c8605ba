"""What is to be done, how, and where; and what of it is done already."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerate.errors import NumerateError, RunError, check_choice
from numerate.lm.evaluate.observed import PARTS
from numerate.lm.reproduce.suites import PAPER, Row, chosen_rows, rows_of
from numerate.lm.train.options import TrainingOptions, usual_of
from numerate.places import place_of
from numerate.threads import cores

if TYPE_CHECKING:
    from numerate.lm.data.dataset import Dataset
    from numerate.lm.model.config import NetworkConfig
    from numerate.lm.model.opening import Settings


@dataclass(frozen=True, slots=True)
class Task:
    """One run of a row: what is trained and evaluated by itself."""

    name: str  # as progress tells of it
    row: Row
    seed: int


@dataclass(frozen=True)
class Plan:
    """All choices of one reproduction; the folder of every result follows from them."""

    dataset: Path
    out: Path
    suite: str = PAPER
    backbone: str | None = None  # of the suite that needs a pretrained one
    models: tuple[str, ...] | None = None  # names of rows, or of heads; None: all of the suite
    seeds: int = 1  # so many, from that of the options on
    options: TrainingOptions = field(default_factory=TrainingOptions)
    learning_rate: float | None = None  # None, also below: what is usual for a row's backbone
    hidden: int | None = None
    dropout: float | None = None
    vocabulary: int = 1000
    truncate: bool = False
    vectors: str | None = None
    cache: Path | None = None
    trust_remote_code: bool = False
    device: str | None = None
    processes: int = 0  # 0: as many as `workers` says
    given_threads: int | None = None  # for each process; None: they share the cores
    confidence: float | None = 0.95
    metrics: str = "all"  # also the figures beyond the paper

    def __post_init__(self) -> None:
        if not self.rows:
            raise NumerateError(
                f"models: got none, expected some of {', '.join(r.name for r in self.suite_rows)}"
            )
        check_choice("metrics", self.metrics, PARTS)
        for name, least in (("seeds", 1), ("processes", 0)):
            if getattr(self, name) < least:
                raise NumerateError(f"{name}: got {getattr(self, name)}, expected {least} or more")
        if self.given_threads is not None and self.given_threads < 1:
            raise NumerateError(f"threads: got {self.given_threads}, expected 1 or more")
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise NumerateError(f"confidence: got {self.confidence}, expected between 0 and 1")
        if self.out.resolve() == self.dataset.resolve():
            raise NumerateError(f"{self.out}: the dataset itself, expected another folder for runs")
        pretrained = [row for row in self.rows if row.is_pretrained]
        if pretrained and self.vectors is not None:
            raise NumerateError(
                f"vectors: got {self.vectors} for the suite {self.suite}, whose pretrained model "
                "has its own embeddings"
            )
        if pretrained and not backbone_path(pretrained[0]).exists():
            raise NumerateError(
                f"{backbone_path(pretrained[0])}: does not exist, expected a folder or a GGUF file"
            )

    @cached_property
    def suite_rows(self) -> tuple[Row, ...]:
        return rows_of(self.suite, self.backbone)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        known = self.suite_rows
        return known if self.models is None else chosen_rows(self.models, known)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Every row with every seed; what is not trained has but one run."""
        return tuple(
            Task(row.name if self.seeds == 1 else f"{row.name}, seed {seed}", row, seed)
            for seed in range(self.options.seed, self.options.seed + self.seeds)
            for row in self.rows
            if row.is_trained or seed == self.options.seed
        )

    def settings_of_models(self, **more: Any) -> "Settings":
        """Say how to open the runs, whose pretrained model is the plan's."""
        from numerate.lm.model.opening import Settings

        trusted = self.trust_remote_code
        return Settings(self.cache, trust_remote_code=trusted, backbone=self.backbone, **more)

    @cached_property
    def opened(self) -> "Dataset":
        from numerate.lm.data.dataset import Dataset

        return Dataset.open(self.dataset)

    @property
    def content_hash(self) -> str:
        """Of the dataset."""
        return str(self.opened.manifest["content_hash"])

    @property
    def workers(self) -> int:
        """One a core, one thread each, which is faster than the reverse, and lets small models
        share a GPU. Over a pretrained model one: it is large, and its states are kept for the next.
        """
        usual = 1 if any(row.is_pretrained for row in self.rows) else cores()
        return min(self.processes or usual, len(self.tasks))

    @property
    def threads(self) -> int:
        """For each process."""
        return self.given_threads or max(1, cores() // self.workers)

    def run(self, task: Task) -> Path:
        """Those of the first seed lie where those of a single one do."""
        runs = self.out / "runs"
        return (
            runs if task.seed == self.options.seed else runs / f"seed-{task.seed}"
        ) / task.row.name

    def settings(self, task: Task) -> dict[str, Any]:
        """Everything that makes a run what it is, by the names `numerate train` gives it."""
        row, usual = task.row, usual_of(task.row.backbone)

        def chosen(name: str) -> Any:
            given = getattr(self, name)
            return getattr(usual, name) if given is None else given

        return {
            **asdict(self.options),
            "seed": task.seed,
            **{name: chosen(name) for name in ("learning_rate", "hidden", "dropout")},
            "vocabulary": self.vocabulary,
            "truncate": self.truncate,
            "vectors": self.vectors,
            "model": row.model,
            "backbone": row.backbone,
            "sight": row.sight,
            "members": row.members,
            "finetune": row.finetune,
        }

    def network(self, task: Task) -> "NetworkConfig":
        """What reads text in a model from scratch: the usual one, since no row chooses another."""
        from numerate.lm.model.config import NetworkConfig

        usual = usual_of(task.row.backbone)
        return NetworkConfig(task.row.backbone, usual.layers or 1, usual.heads or 1)

    def training_arguments(self, task: Task) -> list[str]:
        """`numerate train` as it is called for one run; one that has begun goes on."""
        arguments = ["train", str(self.dataset), "--out", str(self.run(task)), "--resume"]
        told = self.settings(task) | {"members": ",".join(task.row.members) or None}
        told |= {"cache": self.cache, "trust_remote_code": self.trust_remote_code}
        for name, value in (told | {"device": self.device}).items():
            option = "--" + name.replace("_", "-")
            if value is True:
                arguments.append(option)
            elif value is not None and value is not False:
                arguments.append(f"{option}={value}")
        return arguments

    def is_trained(self, task: Task) -> bool:
        """Whether the run is there and finished; one of other options or data is refused."""
        from numerate.lm.backbones.pretrained.files import digest
        from numerate.lm.model.run_folder import CONFIG, RunFolder
        from numerate.lm.train.checkpoint import difference, other_data

        folder = self.run(task)
        if not task.row.is_trained:
            return True
        if not (folder / CONFIG).exists():
            return False
        try:
            config = RunFolder(folder).config()
        except RunError:  # spoilt: its training will say what is wrong with it
            return False
        finished = config.state == "finished"
        found = {**asdict(config), **asdict(config.options), **config.training}
        found |= {**config.network_options, "finetune": "none"}
        if config.backbone is not None:
            about = config.backbone
            found |= {"finetune": about.finetune}
            found |= {"backbone": about.path, "backbone_hash": about.digest}
        asked = self.settings(task)
        if task.row.is_pretrained:
            path = backbone_path(task.row)
            asked |= {"backbone": place_of(path) or str(path), "backbone_hash": digest(path)}
        else:
            asked["network"] = asdict(self.network(task))
        if not finished:  # these may change
            asked = {name: asked[name] for name in asked.keys() - {"epochs", "patience"}}
        changed = difference({name: found.get(name) for name in asked}, asked)
        if config.dataset is None:
            changed = "it says of no dataset"
        elif changed is None:
            given = RunFolder(folder).place_of(self.opened, task.row.sight)
            changed = other_data(config.dataset, given)
        if changed:
            raise RunError(
                f"{folder}: a run of other options or data: {changed}; "
                "choose another --out, or remove it"
            )
        return finished


def backbone_path(row: Row) -> Path:
    """Where the pretrained model of a row lies on this machine, or a copy of it."""
    from numerate.lm.backbones.pretrained.backbone import parse_reference

    path = parse_reference(row.backbone)
    assert path is not None
    return path.absolute()
