"""The API over a pretrained language model."""

from pathlib import Path

import pytest
from tests.lm.backbones.pretrained.conftest import save
from tests.serve.conftest import Serving
from tests.serve.test_api import TEXT, ask

import numerate


def test_a_pretrained_model_is_served_as_a_run_is(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    numerate.prepare("cardiac", tmp_path / "data", documents=100)
    model = numerate.load(f"hf:{save(tmp_path / 'tiny', 'single')}", tmp_path / "data")
    model.checker.glance(TEXT, model.checker.usual_alarms)  # calibrated, as `serve` does it first
    with serving(model, name=model.name) as client:
        about = client.get("/v1/model").json()
        assert (about["name"], about["strategy"], about["members"]) == ("tiny", "tiny", [])
        answer = ask(client, "check", text=TEXT)
        assert [TEXT[n["start"] : n["end"]] for n in answer["numerals"]] == ["61", "150", "9000"]
        for said, finding in zip(answer["numerals"], model.checker.assess(TEXT), strict=True):
            assert said["plausibility"] == finding.plausibility
        start = TEXT.index("150")
        answer = ask(client, "predict", text=TEXT, start=start, end=start + 3)
        expected = model.predict(TEXT[:start])
        assert answer["written"]["probability"] == pytest.approx(expected.prob("150"))
        top = {n["numeral"]: n["probability"] for n in answer["top"]}
        assert top == pytest.approx(dict(expected.top(len(top))))
        claims = ["the volume is 123456789.5", "the volume is 5"]
        assert [c["place"] for c in ask(client, "rank", claims=claims)["claims"]] == [1, 0]
