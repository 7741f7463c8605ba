"""SIGHUP has two meanings: load the models again, and the terminal is closed."""

import os
import signal


def has_terminal() -> bool:
    """Return whether closing a terminal would end this process, which `nohup` prevents."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return False
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
