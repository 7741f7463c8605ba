"""One `numerate train` process per run, so many at a time, none left behind."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path

from numerate.errors import FailureError
from numerate.lm.reproduce.choices import Plan, Task
from numerate.lm.reproduce.standings import Standings

TOLD = "numerate: "  # before what is told in one line
GRACE = 60.0  # seconds a child has to write its best weights after an interrupt


@contextmanager
def exclusive(folder: Path) -> Iterator[int]:
    """Let nobody else write into the folder; yields what a child must hold to share the right.

    The system takes the lock away when the last holder has ended, however it ended. So the
    children of a killed parent keep it until they notice, at their next epoch at the latest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FailureError(
                f"{folder}: another process is still writing here; try again when it has ended"
            ) from None
        yield handle
    finally:
        os.close(handle)


class Children:
    """The training processes of a plan.

    They form sessions of their own: Ctrl-C reaches only the parent, which passes it on once,
    and each child then saves its best weights undisturbed.
    """

    def __init__(self, plan: Plan, standings: Standings, lock: int) -> None:
        self.plan, self.standings, self.lock = plan, standings, lock
        self._running: set[subprocess.Popen[str]] = set()
        self._tasks: Sequence[Task] = ()
        self._stopped = False
        self._guard = threading.Lock()

    def train(self, tasks: Sequence[Task]) -> None:
        """Train them in this order; the standings say which of them failed."""
        self._tasks = tasks
        with ThreadPoolExecutor(self.plan.workers) as pool:
            begun = [pool.submit(self._train_one, task) for task in tasks]
            try:
                wait(begun)
            except BaseException:
                self._interrupt()
                raise
            for ended in begun:
                ended.result()

    def _train_one(self, task: Task) -> None:
        child = self._start(task)
        if child is None:
            return
        row = self.standings.rows[task.name]
        row.start("training")
        lines = list[str]()
        assert child.stderr is not None
        with child:
            for line in child.stderr:
                if row.read(line):
                    self._show()
                else:
                    lines.append(line.strip())
        status = child.returncode
        with self._guard:
            self._running.discard(child)
            if self._stopped:
                row.end("interrupted")
            elif status == 0:
                row.end("trained")
            else:
                row.end("failed", _reason(status, lines))
        self.standings.ended(task.name)
        self._show()

    def _show(self) -> None:
        """Count epochs; a run that ended early has none left."""
        most, rows = self.plan.options.epochs, self.standings.rows
        states = [rows[task.name] for task in self._tasks]
        done = sum(row.epoch if row.state in ("waiting", "training") else most for row in states)
        self.standings.show("training", "epochs", done, most * len(states))

    def _start(self, task: Task) -> subprocess.Popen[str] | None:
        with self._guard:
            if self._stopped:
                return None
            child = subprocess.Popen(
                [sys.executable, "-m", "numerate", *self.plan.training_arguments(task)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": str(self.plan.threads)},
                pass_fds=[self.lock],
                start_new_session=True,
            )
            self._running.add(child)
            return child

    def _interrupt(self) -> None:
        """Ask all children to end in good order; make them, if they do not."""
        with self._guard:
            self._stopped = True
            children = list(self._running)
        # What runs in the background of a script was told to ignore the former.
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        for child in children:
            child.send_signal(signal.SIGTERM if ignored else signal.SIGINT)
        try:
            for child in children:
                child.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            for child in children:
                child.kill()  # does nothing to those that have ended


def _reason(status: int, lines: Sequence[str]) -> str:
    """Why a child failed: its error comes last, after what it may have noticed before."""
    if status < 0:
        killed = f"killed by {signal.Signals(-status).name}"
        return f"{killed}, perhaps for want of memory" if -status == signal.SIGKILL else killed
    said = [line for line in lines if any(map(str.isalpha, line))]
    told = [line.removeprefix(TOLD) for line in said if line.startswith(TOLD)]
    return (told or said or [f"exit status {status}"])[-1]
