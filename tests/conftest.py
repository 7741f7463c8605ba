"""What all tests share: no clock, rules that may not fail, and no model that nobody named.

The core's tests run without torch and without a browser. Tests of models name the plugin
`tests.trained`, tests of pages the plugin `tests.browser`.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from numerate.reports.notices import Loudness, set_loudness

# A busy machine is not an error.
settings.register_profile("numerate", deadline=None, derandomize=True)
settings.load_profile("numerate")


@pytest.fixture(scope="session", autouse=True)
def no_rule_fails() -> Iterator[None]:
    """To users a rule that breaks is one line beside what the others find; to tests, an error."""
    with pytest.MonkeyPatch.context() as patch:
        direct = "numerate.rules.recompute._isolated"
        patch.setattr(direct, lambda rule, read, failures: rule.recompute(read))
        yield


@pytest.fixture(autouse=True)
def no_model_unless_named(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` asks the model that comes with the package where none is named; what tests say of
    the rules must not depend on it. Those that are about it are marked `installed`."""
    if "installed" not in request.keywords:
        monkeypatch.setattr("numerate.proofread.models.USUAL", ())


@pytest.fixture(autouse=True)
def usual_loudness() -> Iterator[None]:
    """What a command was told in one test is forgotten in the next."""
    yield
    set_loudness(Loudness.USUAL)
