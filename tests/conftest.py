"""Property tests with fixed seeds, and without a clock: a busy machine is not an error."""

from hypothesis import settings

settings.register_profile("numerate", deadline=None, derandomize=True)
settings.load_profile("numerate")
