"""Make the model that comes with the package, from the corpora it is trained on.

    python models/build.py rct-jats.tar.xz elife-jats.tar.xz --work build
    python models/build.py --dataset data/articles --work build

Writes src/numerate/lm/model/shipped/articles. What is done is kept in --work and not done again;
the language model and the detector are trained side by side. Meant for a GPU; --tiny makes
everything small, to try the script.
"""

import argparse
import json
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numerate.lm.data.dataset import Dataset
from numerate.lm.evaluate.trial import TABLE_CELL
from numerate.lm.model.shipped.card import Corpus, Figure
from numerate.lm.model.shipped.pack import About, pack

SHIPPED = Path(__file__).parents[1] / "src" / "numerate" / "shipped"
SOURCES = {
    "reports of randomised trials": "PubMed Central, by Evidence Inference (DeYoung et al. 2020)",
    "eLife research articles": "eLife's public archive",
}
TINY = {
    "train": "--model grounded --hidden 16 --epochs 1 --vocabulary 100",
    "train-detector": "--hidden 16 --epochs 1 --vocabulary 100",
}
NAME = "articles"
SUMMARY = "scientific articles and trials, from scratch, small and fast"
OPTIONS = {
    "train": "--model grounded --backbone transformer --layers 3 --heads 4 --hidden 192 "
    "--dropout 0.3 --learning-rate 0.002 --vocabulary 7000 --epochs 10",
    "train-detector": "--hidden 128 --vocabulary 8000 --epochs 8 --batch-size 8 "
    "--learning-rate 0.0015",
}
PARAGRAPHS = 600
"""With so many, recall is measured on the test split."""
KINDS = ("digit replaced", "digits swapped", "factor 10", "another number in sight", TABLE_CELL)


def main() -> None:
    arguments = parsed()
    work: Path = arguments.work
    work.mkdir(parents=True, exist_ok=True)
    dataset = arguments.dataset or prepared(arguments.archives, work)
    build(dataset, work / NAME, arguments)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archives", nargs="*", type=Path, help="of articles as JATS")
    parser.add_argument("--dataset", type=Path, help="prepared from them before")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=SHIPPED)
    parser.add_argument("--processes", type=int, default=0, help="that make batches for detectors")
    parser.add_argument("--device")
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    if bool(arguments.archives) == bool(arguments.dataset):
        parser.error("expected either archives or --dataset")
    return arguments


def prepared(archives: Sequence[Path], work: Path) -> Path:
    """One dataset of all of them; documents are split by their names, whatever else is there."""
    dataset = work / "data"
    if not dataset.is_dir():
        articles = work / "articles"
        for archive in archives:
            with tarfile.open(archive) as opened:
                opened.extractall(articles, filter="data")
        numerate("prepare", articles, "--keep", "mixed", "--out", dataset)
    return dataset


def build(dataset: Path, work: Path, arguments: argparse.Namespace) -> None:
    work.mkdir(exist_ok=True)
    runs = {"train": work / "language-model", "train-detector": work / "detector"}
    device = ["--device", arguments.device] if arguments.device else []
    started = []
    for command, folder in runs.items():
        if not folder.is_dir():
            options = (TINY if arguments.tiny else OPTIONS)[command].split()
            if command == "train-detector":
                options += ["--processes", str(arguments.processes)]
            log = (work / f"{command}.log").open("w")
            line = [command, dataset, "--out", folder, *options, *device]
            started.append((line, subprocess.Popen(words(line), stdout=log, stderr=log)))
    for line, process in started:
        if process.wait():
            sys.exit(f"{' '.join(map(str, line))}: failed; see {work / line[0]}.log")
    figures = measured(runs, dataset, work, arguments, device)
    licence = "Apache-2.0, trained on texts under CC BY"
    about = About(SUMMARY, ["English"], licence, corpora(dataset), figures)
    folder = arguments.out / NAME
    pack(
        folder,
        about,
        language_model=runs["train"],
        detector=runs["train-detector"],
        dataset=dataset,
        force=True,
    )
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")


def measured(
    runs: dict[str, Path],
    dataset: Path,
    work: Path,
    arguments: argparse.Namespace,
    device: list[str],
) -> list[Figure]:
    """Measure figures of the test split."""
    evaluated, found = (work / name for name in ("evaluated.json", "benchmark.json"))
    if not evaluated.is_file():
        options = ["--dataset", dataset, "--metrics", "perplexity", "--confidence", "0.95"]
        options += ["--format", "json", *device]
        evaluated.write_text(numerate("evaluate", runs["train"], *options))
    if not found.is_file():
        models = [word for run in runs.values() for word in ("--model", run)]
        options = ["--limit", PARAGRAPHS, "--processes", arguments.processes, "--format", "json"]
        options += device
        found.write_text(numerate("check-benchmark", dataset, *models, *options))
    benchmark, split = json.loads(found.read_text()), "test split of both corpora"
    on = f"{benchmark['paragraphs']:,} paragraphs of the {split}"
    all_of_it = perplexity(json.loads(evaluated.read_text()), split)
    return [all_of_it, *recalls(benchmark, on)]


def perplexity(record: Any, on: str) -> Figure:
    (run,) = record["runs"].values()
    value = run["perplexity"]["numerals"]["app"]
    low, high = run["intervals"]["perplexity"]["numerals"]["app"]
    return Figure("numerals, adjusted perplexity", on, value, low, high)


def recalls(record: dict[str, Any], on: str) -> list[Figure]:
    found = []
    for kind in KINDS:
        recall = record["judges"]["all together"][kind]["recall"]
        about = f"recall at 1 % false alarms: {kind}"
        found.append(Figure(about, on, *(recall[name] for name in ("estimate", "low", "high"))))
    return found


def corpora(dataset: Path) -> list[Corpus]:
    names = Dataset.open(dataset).split("train").read(["document"])["document"].to_pylist()
    elife = sum("eLife" in name for name in set(names))
    counts = (len(set(names)) - elife, elife)
    pairs = zip(SOURCES.items(), counts, strict=True)
    return [Corpus(name, count, "CC BY", source) for (name, source), count in pairs if count]


def words(line: Sequence[object]) -> list[str]:
    return [sys.executable, "-m", "numerate", *map(str, line)]


def numerate(*line: object) -> str:
    print("numerate", *line, flush=True)
    done = subprocess.run(words(line), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


if __name__ == "__main__":
    main()
