"""What all tests share: fixed seeds, no clock, and one thread, since small models want no more."""

from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

# A busy machine is not an error.
settings.register_profile("numerate", deadline=None, derandomize=True)
settings.load_profile("numerate")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
