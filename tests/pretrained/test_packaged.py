"""A pretrained model that lies in a package is named by it, and found on any machine."""

import json
from pathlib import Path

import pytest
from tests.packages import install
from tests.pretrained.conftest import save

from numerate.detector.fitting import FittingOptions
from numerate.detector.small import SmallOptions
from numerate.detector.train_detector import pretrained_classifier, train_detector
from numerate.detector.trained import open_detector
from numerate.documents.document import Document, Paragraph
from numerate.errors import BackboneError, NumerateError
from numerate.plugins import MODELS
from numerate.pretrained.backbone import open_backbone, parse_reference
from numerate.pretrained.packaged import located, package_of, portable
from numerate.shipped.card import Corpus
from numerate.shipped.installed import installed, shipped
from numerate.shipped.pack import About, pack

NAMED = "package:brings_a_backbone/tiny"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are installed in, one with a pretrained model."""
    folder = tmp_path / "site"
    save(folder / "brings_a_backbone" / "tiny", "single")
    (folder / "brings_a_backbone" / "__init__.py").write_text("raise RuntimeError('was run')")
    monkeypatch.syspath_prepend(folder)
    return folder


def test_it_is_found_and_named(site: Path, tmp_path: Path) -> None:
    place = site / "brings_a_backbone" / "tiny"
    assert located(NAMED) == place
    assert portable(place) == NAMED
    assert package_of(NAMED) == "brings_a_backbone"
    assert parse_reference(f"hf:{NAMED}") == place
    assert open_backbone(NAMED).digest == open_backbone(place).digest
    elsewhere = tmp_path / "models" / "mine"
    assert (portable(elsewhere), located(elsewhere)) == (str(elsewhere), elsewhere)
    assert package_of(str(elsewhere)) is None


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("package:no_such_package_at_all/x", "the package no_such_package_at_all is not installed"),
        ("package:json.decoder/x", "expected package:NAME/FILE"),
        ("package:json", "expected package:NAME/FILE"),
        ("package:json/../secret", "expected package:NAME/FILE"),
        ("package:json//etc/passwd", "expected package:NAME/FILE"),
        ("package:string/x", "the package string is not installed"),
    ],
)
def test_what_is_no_such_place(path: str, said: str) -> None:
    with pytest.raises(BackboneError, match=said):
        located(path)


def test_a_detector_over_it_can_be_shipped(site: Path, trials: Path, tmp_path: Path) -> None:
    run = tmp_path / "detector"
    train_detector(
        trials / "data",
        run,
        make=pretrained_classifier(located(NAMED), "lora", SmallOptions(hidden=8), 100),
        options=FittingOptions(epochs=1, batch_size=20),
        device="cpu",
    )
    about = About(
        "for tests", ["English"], "CC0-1.0", [Corpus("trials", 60, "CC0-1.0")], needs_install="it"
    )
    pack(site / "a_shipped_model" / "it", about, detector=run)
    install(site, "a-shipped-model", {MODELS: {"tiny-detector": "a_shipped_model.it"}})
    config = json.loads((site / "a_shipped_model" / "it" / "detector" / "config.json").read_text())
    assert config["options"]["path"] == NAMED
    model = shipped("tiny-detector")
    assert model.card.needs == "brings_a_backbone"
    assert model.detector is not None
    document = Document("one", [Paragraph("Of 48 patients, 12 were women.")])
    own, named = open_detector(run, "cpu"), open_detector(model.detector, "cpu")
    pairs = zip(own.log_odds(document), named.log_odds(document), strict=True)
    assert [one.log_odds for one, _ in pairs] == pytest.approx(
        [one.log_odds for one in named.log_odds(document)], abs=0.05
    )


def test_without_its_package_it_says_what_to_install(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site / "a_shipped_model" / "it"
    folder.mkdir(parents=True)
    card = {
        "format": "numerate shipped model", "version": 1, "summary": "", "languages": [],
        "licence": "", "trained_on": [], "figures": [], "numerate": "0", "files": {},
        "needs": "no_such_package_at_all", "needs_install": "numerate[smollm2]",
    }  # fmt: skip
    (folder / "model.json").write_text(json.dumps(card))
    install(site, "a-shipped-model", {MODELS: {"tiny-detector": "a_shipped_model.it"}})
    assert "tiny-detector" in [model.name for model in installed()]
    with pytest.raises(NumerateError, match=r"needs pip install 'numerate\[smollm2\]'"):
        shipped("tiny-detector")
