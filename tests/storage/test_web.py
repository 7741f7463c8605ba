"""Documents that a plain web server has, which knows no folders and of files nothing but bytes."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate as command

TEXT = "Of 200 patients, 50 (30%) died."
FOUND = "50 of 200 is 25 %, not 30 %."


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """Its address; what it shows is in a folder that tests fill."""
    (tmp_path / "web").mkdir()
    handler = partial(Quiet, directory=str(tmp_path / "web"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("paper.md", TEXT),
        ("paper", TEXT),
        ("paper.html", f'<p>{TEXT} <a href="#1">1</a> <a href="other.html">2</a></p>'),
        ("drafts/paper.md", TEXT),
    ],
)
def test_a_file_of_the_web_is_read(
    name: str, text: str, capsys: pytest.CaptureFixture[str], web: str, tmp_path: Path
) -> None:
    """One that a page links to is in no folder of that page's name."""
    (tmp_path / "web" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "web" / name).write_text(text)
    for place in {name, name.split("/")[0]}:
        status, out, err = command(capsys, "check", "--model", "none", f"{web}/{place}")
        assert (status, err) == (1, "")
        assert out.startswith(f"{web}/{name}:1")
        assert FOUND in out


def test_what_is_wrong_on_the_web_is_one_line(capsys: pytest.CaptureFixture[str], web: str) -> None:
    nowhere = "http://127.0.0.1:9"  # the port at which everything is discarded
    for place, expected, why in (
        (f"{web}/gone.md", 2, "no such bucket, folder or file"),
        (f"{nowhere}/paper.md", 1, "Connect call failed"),
    ):
        status, out, err = command(capsys, "check", place)
        assert (status, out, err.count("\n")) == (expected, "", 1)
        assert err.startswith(f"numerate: {place}: {why}")
