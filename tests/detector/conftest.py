"""What the tests of the detector share: small runs."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Load what tests of models share; a `conftest.py` below the first cannot name plugins."""
    config.pluginmanager.import_plugin("tests.trained")
