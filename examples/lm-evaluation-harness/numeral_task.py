"""A task of lm-evaluation-harness: perplexity of numerals, and coverage of intervals."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.metrics import mean, perplexity
from lm_eval.api.task import Task, TaskConfig
from lm_eval.filters import build_filter_ensemble

from numerate.lm.data.batching import load_corpora
from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.central_intervals import LEVELS
from numerate.lm.model.candidates import percentile_numerals
from numerate.text.vocabulary import Vocabulary

sys.path.append(str(Path(__file__).parent))  # the harness loads this file by its place
from numeral_likelihood import Choice, coverage, forms_of, log_prob, places, texts_asked

PERPLEXITY = "numeral_perplexity"
COVERAGE = {level: f"coverage_{level * 100:.0f}" for level in LEVELS}


def task(
    dataset: str | Path, *, split: str = "test", name: str | None = None, **choice: Any
) -> "NumeralTask":
    """Return the task of a prepared dataset, for `lm_eval.simple_evaluate(tasks=[…])`."""
    return NumeralTask(
        {
            "task": name or f"numerals-{Path(dataset).name}",
            "dataset_path": str(dataset),
            "test_split": split,
            "dataset_kwargs": choice,
        }
    )


class NumeralTask(Task):
    """Asks for one numeral a document; a YAML file names it: see `numerals.yaml`."""

    VERSION = 1
    OUTPUT_TYPE = "loglikelihood"

    def __init__(self, config: dict[str, Any]) -> None:
        self._choice = Choice.of(config.get("dataset_kwargs") or {})
        about = {name: value for name, value in config.items() if name != "class"}
        chosen = {"dataset_kwargs": asdict(self._choice), "output_type": self.OUTPUT_TYPE}
        # That of `Task` would complain of a configuration it makes up.
        self._filters = [build_filter_ensemble("none", [["take_first", None]])]
        self._config = TaskConfig(**{"test_split": "test", "num_fewshot": 0} | about | chosen)
        opened = Dataset.open(self._config.dataset_path)
        self._candidates: list[str] = []
        if self._choice.candidates:
            train = load_corpora(opened, Vocabulary.nothing())["train"]
            self._candidates = percentile_numerals(train, self._choice.candidates)
        self._docs = list(places(opened, self._config.test_split, self._choice))

    def has_training_docs(self) -> bool:
        return False

    def has_validation_docs(self) -> bool:
        return False

    def has_test_docs(self) -> bool:
        return True

    def test_docs(self) -> list[dict[str, str]]:
        return self._docs

    def doc_to_text(self, doc: dict[str, str]) -> str:
        return doc["before"]

    def doc_to_target(self, doc: dict[str, str]) -> str:
        return doc["space"] + doc["written"]

    def fewshot_context(self, doc: dict[str, str], *_: Any, **__: Any) -> str:
        """Return nothing but what stands before it in its document."""
        return self.doc_to_text(doc)

    def construct_requests(self, doc: dict[str, str], ctx: str, **about: Any) -> list[Any]:
        return [
            Instance(self.OUTPUT_TYPE, doc, (ctx, doc["space"] + text), number, about["metadata"])
            for number, text in enumerate(self._asked(doc))
        ]

    def process_results(
        self, doc: dict[str, str], results: Sequence[tuple[float, bool]]
    ) -> dict[str, float]:
        log_probs = dict(zip(self._asked(doc), (value for value, _ in results), strict=True))
        ended = self._choice.ended
        found = {PERPLEXITY: log_prob(forms_of(doc), log_probs, doc["listed"], ended=ended)}
        if self._candidates:
            covered = coverage(doc, self._candidates, log_probs, ended=ended)
            found |= {COVERAGE[level]: float(inside) for level, inside in covered.items()}
        return found

    def aggregation(self) -> dict[str, Any]:
        return {PERPLEXITY: perplexity, **dict.fromkeys(COVERAGE.values(), mean)}

    def higher_is_better(self) -> dict[str, bool]:
        """Coverage shall be as its level says."""
        return {PERPLEXITY: False}

    def _asked(self, doc: dict[str, str]) -> list[str]:
        return texts_asked(doc, self._candidates, ended=self._choice.ended)
