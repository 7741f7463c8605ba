"""What a user sees while runs are trained and evaluated."""

import io

import pytest

from numerate.lm.reproduce.standings import Standings, duration
from numerate.reports.notices import plain_console
from numerate.reports.progress import PassProgress


def test_each_run_that_ended_has_a_line_and_no_bar_is_left_in_a_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    standings = Standings(["mog", "d-rnn"])
    standings.rows["mog"].start("training")
    line = "epoch   3  train loss 6.0  dev loss 5.4  word perplexity 2.00"
    assert standings.rows["mog"].read(line)
    assert not standings.rows["mog"].read("numerate: no dev split")
    standings.show("training", "epochs", 3, 6)
    standings.rows["mog"].end("trained")
    standings.rows["d-rnn"].end("failed", "out of memory")
    for name in standings.rows:
        standings.ended(name)
    standings.show("training", "epochs", 6, 6)
    told = capsys.readouterr().err
    assert told == "mog: trained in 0 s, 3 epochs, dev loss 5.4\nd-rnn: failed: out of memory\n"


def test_on_a_terminal_a_bar_goes_with_the_last_run(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    console = plain_console(file=stream, force_terminal=True, width=100)
    monkeypatch.setattr("numerate.reports.progress.notice_console", lambda: console)
    bars: list[PassProgress] = []

    class Bar(PassProgress):
        def __init__(self, things: str) -> None:
            super().__init__(things)
            bars.append(self)

    monkeypatch.setattr("numerate.lm.reproduce.standings.PassProgress", Bar)
    standings = Standings(["mog"])
    for done in (1, 2, 4):
        standings.show("training", "epochs", done, 4)
    standings.show("evaluating", "runs", 1, 2)
    standings.say("mog: evaluated")  # above the bar
    standings.close()
    assert len(bars) == 2
    assert not any(bar.progress.live.is_started for bar in bars)
    assert "mog: evaluated" in stream.getvalue()
    assert "training" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "shown"), [(8.4, "8 s"), (250, "4 min 10 s"), (12_000, "3 h 20 min")]
)
def test_an_amount_of_time_is_read_at_a_glance(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown
