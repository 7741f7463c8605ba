"""A run from dataset to folder: vocabulary, components, vectors, training, saved model."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator, DistributedDataParallelKwargs, InitProcessGroupKwargs
from accelerate.state import AcceleratorState

from numerate.errors import DatasetError, NumerateError, RunError
from numerate.lm.backbones.pretrained.store import remembered_cache
from numerate.lm.backbones.pretrained.written_tables import WRITING
from numerate.lm.backbones.scratch import ScratchBackbone
from numerate.lm.data.batching import Corpus, load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.heads.base import HeadOptions, NumeralHead, TrainingNumerals
from numerate.lm.heads.combination import CombinationHead
from numerate.lm.heads.registry import head_class
from numerate.lm.model.config import ModelConfig, NetworkConfig
from numerate.lm.model.device import usable_device
from numerate.lm.model.numeral_lm import NumeralLM
from numerate.lm.model.opening import from_scratch
from numerate.lm.model.run_contents import DatasetPlace, FittedWeights
from numerate.lm.model.run_folder import CHECKPOINT, CONFIG, RunFolder, read_json, writing_folder
from numerate.lm.model.stored import StoredModel
from numerate.lm.model.vectors import load_vectors
from numerate.lm.train.checkpoint import difference, other_data
from numerate.lm.train.elsewhere import publishes_run
from numerate.lm.train.environment import record_end, record_environment
from numerate.lm.train.loop import Reporter, Trainer
from numerate.lm.train.mixture_weights import fit_mixture_weights
from numerate.lm.train.options import TrainingOptions
from numerate.lm.train.over_backbone import BackboneChoice, over_backbone
from numerate.lm.train.place import check_place, close_place, open_place
from numerate.places import place_of
from numerate.storage.atomic import locked
from numerate.storage.records import typed
from numerate.text.vocabulary import Vocabulary

READING = timedelta(days=7)  # that processes wait for the first, which reads a dataset for all


@dataclass(frozen=True, slots=True)
class RunResult:
    folder: str | Path  # the place that was given; until it is complete, where it is
    state: str  # finished, or interrupted
    best_epoch: int  # counted from 1; 0: no epoch was completed
    history: list[dict[str, Any]]
    vectors: str | None  # coverage of the pretrained vectors
    mixture_weights: FittedWeights | None = None  # of a combination, fitted on dev


@publishes_run
def train(
    dataset: str | Path,
    out: str | Path,
    *,
    model: str = "combination",
    vocabulary: int = 1000,
    hidden: int = 50,
    dropout: float = 0.1,
    truncate: bool = False,
    members: Sequence[str] = (),
    sight: str | None = None,
    vectors: str | None = None,
    backbone: BackboneChoice | NetworkConfig | None = None,
    options: TrainingOptions | None = None,
    device: str | None = None,
    resume: bool = False,
    force: bool = False,
    reporter: Reporter | None = None,
) -> RunResult:
    """Train one model and write its run folder.

    `backbone` is a pretrained language model, of which the model is a head then, or a network from
    scratch, by default the paper's LSTM. An existing folder is refused unless `force` replaces it
    or `resume` continues it. An interrupt (Ctrl-C) ends training in good order and keeps the best
    weights so far. A place elsewhere, as `s3://bucket/run`, has the run when it is complete.

    Examples:
        >>> import numerate
        >>> from numerate.lm.train.options import TrainingOptions
        >>> options = TrainingOptions(epochs=1)
        >>> run = numerate.train(
        ...     "demo/cardiac", "runs/mog", model="mog", vocabulary=500, options=options
        ... )
        >>> run.state, run.best_epoch
        ('finished', 1)
    """
    options = options or TrainingOptions()
    chosen = HeadOptions(truncate, tuple(members))
    seeing = _sight(model, chosen, sight)
    scratch = backbone if isinstance(backbone, NetworkConfig) else NetworkConfig()
    config = ModelConfig(model, hidden, dropout, chosen, seeing, scratch)
    if members and not issubclass(head_class(model), CombinationHead):
        raise NumerateError(f"members: got {', '.join(members)} for {model}, which combines none")
    opened = Dataset.open(dataset, verified=True)
    folder = Path(out)
    check_place(folder, resume=resume, force=force)
    reads_first = isinstance(backbone, BackboneChoice) and backbone.finetune == "none"
    accelerator = _accelerator(device, options, READING if reads_first else None)
    encoded = opened.split("train").encode()
    words = Vocabulary.build(encoded.types, encoded.counts, vocabulary)
    corpora = load_corpora(opened, words, seeing)
    _check_corpora(opened, corpora)
    torch.manual_seed(options.seed)
    data = training_numerals(corpora["train"])
    coverage: str | None = None
    about: dict[str, Any] = {}
    if not isinstance(backbone, BackboneChoice):
        head = head_class(model).fit(data, hidden, chosen)
        _refuse_blind(head, config)
        network = from_scratch(config, words, head)
        coverage = _start_from_vectors(network, vectors, options.seed)
    else:
        if vectors is not None:
            raise NumerateError("vectors: a pretrained backbone has its own embeddings")
        written = writing_folder(folder)
        if resume and backbone.cache is None and (written / CONFIG).exists():
            told = RunFolder(written).config().cache
            backbone = replace(backbone, cache=remembered_cache(told))
        # The first process reads the dataset; the others find it read where they see its cache.
        with accelerator.main_process_first() if reads_first else nullcontext():
            network, corpora, about = over_backbone(
                backbone, opened, corpora, config, data, accelerator.device
            )
    if isinstance(network.head, CombinationHead):
        network.head.plain = options.plain_mixture
    made = config.record()
    identity = {
        **made,
        **about,
        **{k: v for k, v in asdict(options).items() if k not in {"epochs", "patience"}},
        "vocabulary": vocabulary,
        "vectors": vectors,
        "dataset": opened.manifest["content_hash"],
        "reading": opened.reading.record(),
        "processes": accelerator.num_processes,
    }
    record: dict[str, Any] = {}
    record |= {"dataset": asdict(RunFolder(folder).place_of(opened, config.sight))}
    if tables := record["dataset"]["tables"]:
        identity |= {"tables": tables}
        identity |= {"writing": WRITING} if isinstance(backbone, BackboneChoice) else {}
    record |= {"training": {**asdict(options), "vocabulary": vocabulary, "vectors": vectors}}
    record |= about
    if isinstance(backbone, BackboneChoice) and backbone.cache is not None:
        cache = backbone.cache.absolute()
        record |= {"cache": place_of(cache) or str(cache)}  # for all who use the run
    with ExitStack() as stack:
        lock = stack.enter_context(locked(folder)) if accelerator.is_main_process else None
        if lock is not None:
            open_place(lock, resume=resume, force=force)
        accelerator.wait_for_everyone()
        place = writing_folder(folder)
        if resume and _state(place) == "finished":
            result = _finished_before(place, {**made, **record}, coverage)
        else:
            trainer = Trainer(network, corpora, options, accelerator, place, identity, reporter)
            result = _train(trainer, network, record, opened, resume, coverage)
        if lock is not None:
            if result.state == "finished":
                close_place(lock)
                result = replace(result, folder=folder)
            fitted = RunFolder(writing_folder(folder)).config().mixture_weights
            result = replace(result, mixture_weights=fitted)
    return result


def _sight(model: str, options: HeadOptions, chosen: str | None) -> str:
    """How far the model sees: as told, or as is usual for its head."""
    kind = head_class(model)
    members = [head_class(name) for name in options.members]
    needs = next((member for member in members if member.needs_sight), None)
    usual = kind.usual_sight if not options.members else "tables" if needs else "none"
    if chosen == "none" and usual != "none":
        raise NumerateError(
            f"sight: got none for {model}, which knows numbers in view; "
            "expected paragraph, tables or document"
        )
    if kind.usual_sight != "none" and usual == "none":
        raise NumerateError(
            f"members: got {', '.join(options.members)} for {model}, none of which knows numbers "
            "in view; expected copy or compute among them"
        )
    return usual if chosen is None else chosen


def _refuse_blind(head: NumeralHead, config: ModelConfig) -> None:
    """From scratch it is the head that sees: without one, tables would be read for nothing."""
    if config.sight != "none" and not head.uses_sight:
        raise NumerateError(
            f"sight: got {config.sight} for {config.model}, which knows no numbers in view; "
            "expected --model grounded, or copy or compute among --members"
        )


def _finished_before(folder: Path, asked: dict[str, Any], coverage: str | None) -> RunResult:
    """What is left to say of a run that is done."""
    _refuse_other_options(folder, asked)
    run = RunFolder(folder)
    history, best = run.history(), run.config().best_epoch
    if best is None or not 0 <= best <= len(history):
        raise RunError(f"{folder / CONFIG}: best_epoch: got {best}, expected 0 to {len(history)}")
    return RunResult(folder, "finished", best, history, coverage)


def _train(
    trainer: Trainer,
    network: NumeralLM,
    record: dict[str, Any],
    dataset: Dataset,
    resume: bool,
    coverage: str | None,
) -> RunResult:
    folder, accelerator = trainer.folder, trainer.accelerator
    if resume:
        trainer.resume()
    _write_state(folder, network, record, "training", trainer, accelerator)
    if accelerator.is_main_process:
        column = dataset.split("train").read(["document"])["document"]
        RunFolder(folder).write_documents(list(dict.fromkeys(column.to_pylist())))
        record_environment(folder, accelerator.device, network.backbone.packages)
    state = "failed"
    try:
        state = _until_interrupted(trainer.train, trainer.restore_best)
        if trainer.best and accelerator.is_main_process:
            ended, state = state, "failed"
            fitted = _until_interrupted(
                lambda: record.update(_mixture_weights(network, trainer, dataset))
            )
            state = ended if fitted == "finished" else fitted
    finally:
        _write_state(folder, network, record, state, trainer, accelerator)
    best = trainer.progress.best_epoch + 1
    return RunResult(folder, state, best, trainer.progress.history, coverage)


def _until_interrupted(work: Callable[[], None], tidy: Callable[[], None] | None = None) -> str:
    """The state of a run after some work, of which an interrupt leaves what is done."""
    try:
        work()
    except KeyboardInterrupt:
        if tidy is not None:
            tidy()
        return "interrupted"
    return "finished"


def _mixture_weights(network: NumeralLM, trainer: Trainer, dataset: Dataset) -> dict[str, Any]:
    documents = dataset.split("dev").read(["document"])["document"].to_numpy()
    return fit_mixture_weights(network, trainer.dev_corpus, documents, trainer.options.batch_size)


def _accelerator(
    device: str | None, options: TrainingOptions, patience: timedelta | None = None
) -> Accelerator:
    """With `patience`, processes wait so long for each other; else as long as is usual."""
    if device is not None:
        usable_device(device)
    if not torch.distributed.is_initialized():
        # A later run in the same Python may choose another device or dtype.
        AcceleratorState._reset_state(reset_partial_state=True)
    # A process may meet a batch without numerals, whose head then has no gradient.
    unused = DistributedDataParallelKwargs(find_unused_parameters=True)
    waiting = InitProcessGroupKwargs(timeout=patience)
    with _environment("ACCELERATE_TORCH_DEVICE", device):
        return Accelerator(
            cpu=device == "cpu",
            mixed_precision=options.mixed_precision,
            kwargs_handlers=[unused, waiting],
        )


@contextmanager
def _environment(name: str, value: str | None) -> Iterator[None]:
    before = os.environ.get(name)
    try:
        if value is not None:
            os.environ[name] = value
        yield
    finally:
        if before is not None:
            os.environ[name] = before
        elif value is not None:
            del os.environ[name]


def _check_corpora(dataset: Dataset, corpora: dict[str, Corpus]) -> None:
    if not len(corpora["train"].rows):
        raise DatasetError(f"{dataset.folder}: no numeral in the train split")


def training_numerals(corpus: Corpus) -> TrainingNumerals:
    """Of a training split: what heads are fitted to."""
    counts = np.bincount(corpus.rows, minlength=len(corpus.table))
    return TrainingNumerals(corpus.table, counts, corpus.vocabulary.numerals[1:])


def _start_from_vectors(network: NumeralLM, source: str | None, seed: int) -> str | None:
    if source is None:
        return None
    words, numerals = network.vocabulary.words, network.vocabulary.numerals
    vectors = load_vectors(source, [*words, *numerals], network.config.hidden, seed=seed)
    backbone = network.backbone
    assert isinstance(backbone, ScratchBackbone)
    matrix = vectors.matrix
    backbone.start_from_vectors(matrix[: len(words)], matrix[len(words) :], network.head)
    return vectors.describe()


def _state(folder: Path) -> str | None:
    return RunFolder(folder).config().state if (folder / CONFIG).exists() else None


def _refuse_other_options(folder: Path, asked: dict[str, Any]) -> None:
    """A finished run is only the answer to what was asked of it."""
    known = RunFolder(folder).trained().dataset  # and all is of the right types
    given = typed(DatasetPlace, asked["dataset"])
    stored = read_json(folder / CONFIG) | StoredModel.read(folder).config.record()
    if stored.get("backbone"):
        stored["network"] = None  # a pretrained model has none from scratch
    names = asked.keys() | asked["training"].keys() | {"backbone"}
    names -= {"training", "cache", "dataset"}

    def options(record: dict[str, Any]) -> dict[str, Any]:
        flat = {**record, **record.get("training", {})}
        return {name: flat.get(name) for name in names}

    if changed := difference(options(stored), options(asked)) or other_data(known, given):
        raise RunError(f"{folder}: finished with other options: {changed}")


def _write_state(
    folder: Path,
    network: NumeralLM,
    record: dict[str, Any],
    state: str,
    trainer: Trainer,
    accelerator: Accelerator,
) -> None:
    """The run folder at a turning point; only the end leaves weights behind."""
    if accelerator.is_main_process:
        record = {**record, "state": state, "best_epoch": trainer.progress.best_epoch + 1}
        if state == "training":  # first of all say what the folder is
            network.save(folder, record, weights=False)
        trainer.write_log()
        if state != "training":
            network.save(folder, record)
            record_end(folder)
        if state == "finished":
            (folder / CHECKPOINT).unlink(missing_ok=True)
    accelerator.wait_for_everyone()
