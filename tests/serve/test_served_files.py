"""When models are loaded anew: what counts as a change, and who ends what with which model."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.serve.test_guard import Fake, check

from numerate.lm.model.shipped.installed import shipped
from numerate.lm.model.source import ModelSource
from numerate.serve import signals
from numerate.serve.api import create_app
from numerate.serve.limits import Limits
from numerate.serve.listening import address_of, bind, listen
from numerate.serve.process import Switch, http_config
from numerate.serve.served_files import ServedFiles, place_of
from numerate.serve.workers import Workers


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("config.json", "model.safetensors", "calibration.json", "log.jsonl"):
        (tmp_path / name).write_text(name)
    return tmp_path


def files_of(folder: Path) -> ServedFiles:
    return ServedFiles([ModelSource(str(folder))])


def replace(folder: Path, name: str, text: str) -> None:
    (folder / f".{name}.new").write_text(text)
    os.replace(folder / f".{name}.new", folder / name)


def test_a_change_counts_once_it_has_settled(folder: Path) -> None:
    files = files_of(folder)
    assert not files.have_changed()
    replace(folder, "model.safetensors", "new")
    assert not files.have_changed()  # it may go on
    replace(folder, "config.json", "new")
    assert not files.have_changed()
    assert files.have_changed()
    assert not files.have_changed()  # it was tried


def test_what_nobody_reads_is_no_change(folder: Path) -> None:
    files = files_of(folder)
    for name in ("log.jsonl", "metrics.json", "observed.safetensors", ".config.json.x"):
        replace(folder, name, "new")
    assert [files.have_changed() for _ in range(3)] == [False] * 3


def test_a_run_that_disappears_is_a_change_and_so_is_its_return(folder: Path) -> None:
    files = files_of(folder)
    folder.rename(folder.with_name("gone"))
    assert [files.have_changed() for _ in range(3)] == [False, True, False]
    folder.with_name("gone").rename(folder)
    assert [files.have_changed() for _ in range(3)] == [False, True, False]


def test_what_opening_writes_is_no_change_but_what_others_write_is(folder: Path) -> None:
    files = files_of(folder)
    replace(folder, "calibration.json", "found out")
    replace(folder, "reference.json", "found out")
    files.were_opened()
    assert [files.have_changed() for _ in range(2)] == [False, False]
    replace(folder, "calibration.json", "found out by another")
    assert [files.have_changed() for _ in range(2)] == [False, True]
    replace(folder, "model.safetensors", "while it was opened")
    files.were_opened()
    assert [files.have_changed() for _ in range(2)] == [False, True]


def test_who_asks_need_not_change_anything(folder: Path) -> None:
    files = files_of(folder)
    files.ask()
    assert [files.have_changed() for _ in range(2)] == [True, False]


def test_models_are_looked_for_where_they_are_opened_from(tmp_path: Path) -> None:
    assert place_of("articles") == shipped("articles").folder
    assert place_of(f"hf:{tmp_path}/model.gguf") == tmp_path / "model.gguf"
    assert place_of(str(tmp_path)) == place_of(f"file://{tmp_path}") == tmp_path
    assert place_of("memory://bucket/run:mog") == Path("memory://bucket/run:mog")  # not fetched


def test_a_member_is_served_anew_when_its_run_has_changed(folder: Path) -> None:
    files = ServedFiles([ModelSource(f"{folder}:mog")])
    replace(folder, "model.safetensors", "new")
    assert [files.have_changed() for _ in range(2)] == [False, True]


def test_requests_under_way_end_with_the_old_model_and_new_ones_have_the_new() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait(text: str) -> None:
        begun.set()
        assert go_on.wait(20)

    workers = Workers(Limits())
    seen: list[str] = []
    old = create_app(Fake(wait), name="old", workers=workers)  # type: ignore[arg-type]
    new = create_app(Fake(seen.append), name="new", workers=workers)  # type: ignore[arg-type]
    switch = Switch(old, workers)
    server = uvicorn.Server(http_config(switch, Limits()))
    with bind("127.0.0.1", 0) as listener, ThreadPoolExecutor(2) as pool:
        listen(listener)
        running = pool.submit(server.run, sockets=[listener])
        with httpx.Client(base_url=address_of(listener), timeout=30) as client:
            under_way = pool.submit(check, client, "first")
            assert begun.wait(20)
            switch.app = new
            assert check(client, "second").status_code == 200
            assert client.get("/v1/model").json()["name"] == "new"
            assert client.get("/v1/health").json()["busy"] == 1  # threads are shared
            assert not under_way.done()
            go_on.set()
            assert under_way.result().status_code == 200
        server.should_exit = True
        running.result(20)
    assert seen == ["second"]


def test_hanging_up_ends_a_server_of_a_terminal_and_makes_others_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def done(*has_terminal: bool) -> list[str]:
        told, answers = [], iter(has_terminal)
        monkeypatch.setattr(signals, "_has_terminal", lambda: next(answers))
        hang_up: Any = signals.hang_up_of(lambda: told.append("load"), lambda: told.append("end"))
        hang_up()
        return told

    assert done(True, False) == ["end"]  # the terminal was closed
    assert done(True, True) == ["load"]  # kill -HUP, from another one
    assert done(False) == ["load"]  # a service
