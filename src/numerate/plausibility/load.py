"""From the folder of a run to a model of which one asks about numbers."""

import hashlib
from pathlib import Path
from typing import Any

from numerate import notices
from numerate.corpus.dataset import Dataset
from numerate.evaluation.guards import refuse_foreign_vocabulary, refuse_training_documents
from numerate.model.language_model import LanguageModel
from numerate.plausibility.calibration import Calibration, calibrate
from numerate.plausibility.kept import Say, keep
from numerate.plausibility.load_pretrained import FEW_FREQUENT, calibrate_on_some, load_pretrained
from numerate.plausibility.model import NumerateModel
from numerate.plausibility.passages import read_texts
from numerate.plausibility.pretrained_model import HeadedModel
from numerate.plausibility.reference import FREQUENT, Reference
from numerate.plausibility.run_model import RunModel
from numerate.pretrained.backbone import parse_reference
from numerate.pretrained.backbone_run import BackboneRun
from numerate.pretrained.store import default_cache
from numerate.runs.folder import CALIBRATION, REFERENCE, VOCABULARY, WEIGHTS, RunFolder
from numerate.vocabulary import Vocabulary


def load(
    path: str | Path,
    dataset: str | Path | None = None,
    *,
    cache: str | Path | None = None,
    trust_remote_code: bool = False,
    say: Say = notices.say,
) -> NumerateModel:
    """Open a trained run, or `hf:PATH`, a pretrained language model.

    What a run must know of its dataset is found out once and kept in it; `dataset` is where the
    dataset is now, if it has moved. A pretrained model has none of its own: without `dataset`
    it predicts and ranks, but cannot check. What a pretrained model says of a dataset is kept in
    `cache`; code that comes with one is run only if it is trusted. `say` is told what takes time.

    Examples:
        >>> import numerate
        >>> lm = numerate.load("demo/runs/combination")
        >>> lm.predict("Left ventricular ejection fraction is")
        NumeralDistribution(median ..., 90 % in ...–...)
    """
    given = Path(cache) if cache else None
    pretrained = parse_reference(str(path))
    if pretrained is not None:
        kept_in = given or default_cache()
        return load_pretrained(pretrained, dataset, kept_in, say, trusted=trust_remote_code)
    return _Run(Path(path), dataset, given, say).load(trusted=trust_remote_code)


class _Run:
    def __init__(
        self, folder: Path, dataset: str | Path | None, cache: Path | None, say: Say
    ) -> None:
        self.folder = folder
        self.cache = cache
        self.run = RunFolder.open(folder)
        self.record = self.run.trained()
        self.say = say
        self.given = dataset
        self.hash = self.record.dataset.content_hash
        if dataset is not None:
            self.hash = Dataset.open(dataset).manifest["content_hash"]

    def load(self, *, trusted: bool) -> NumerateModel:
        if self.record.backbone is not None:
            run = BackboneRun.load(self.folder, "cpu", trust_remote_code=trusted)
            headed = HeadedModel(run, self._reference(run.head.vocabulary, FEW_FREQUENT))
            return NumerateModel(headed, lambda: self._calibration(headed))
        model = LanguageModel.load(self.folder)
        plain = RunModel(model, self._reference(model.vocabulary))
        return NumerateModel(plain, lambda: self._calibration(plain))

    def _reference(self, vocabulary: Vocabulary, frequent: int = FREQUENT) -> Reference:
        identity = {"version": 2, "dataset": self.hash, "vocabulary": self._digest(VOCABULARY)}

        def find_out() -> dict[str, Any]:
            dataset = self.run.open_dataset(self.given)
            refuse_foreign_vocabulary(self.folder, self.record, dataset, vocabulary)
            return Reference.of(dataset, vocabulary, frequent).record()

        return keep(self.folder, REFERENCE, identity, find_out, Reference.read, self.say)

    def _calibration(self, model: RunModel | HeadedModel) -> Calibration:
        identity = {"version": 4, "dataset": self.hash, "weights": self._digest(WEIGHTS)}

        def find_out() -> dict[str, Any]:
            dataset = self.run.open_dataset(self.given)
            split = dataset.split("dev").read(["text", "document"])
            documents = split["document"].to_pylist()
            refuse_training_documents(self.folder, dataset, "dev", set(documents))
            if isinstance(model, HeadedModel):
                store = model.store(self.cache, dataset)
                return calibrate_on_some(model, store, self.folder, self.say).record()
            self.say(f"calibrating {self.folder} on the dev split of {dataset.folder}, once")
            texts = split["text"].to_pylist()
            return calibrate(model, read_texts(model, texts), documents).record()

        return keep(self.folder, CALIBRATION, identity, find_out, Calibration.of, self.say)

    def _digest(self, name: str) -> str:
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
