"""Processes to be killed, without the seconds that it takes one to load torch."""

import multiprocessing
import warnings
from collections.abc import Callable
from multiprocessing.process import BaseProcess


def copy_of_this_process(call: Callable[..., object], *arguments: object) -> BaseProcess:
    """A process with all that this one has loaded, which calls the function and ends."""
    process = multiprocessing.get_context("fork").Process(target=call, args=arguments)
    with warnings.catch_warnings():
        # Later Pythons warn of threads, which a copy does not have; ours do nothing meanwhile.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return process
