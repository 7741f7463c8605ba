"""What `deploy/` says fits the package: options, paths and files are those that there are."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lm.model.plausibility.test_command import numerate

from numerate.serve.health_routes import LIVE
from numerate.serve.http_config import ENDING_SECONDS

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text()
UNIT = (ROOT / "deploy" / "numerate.service").read_text()


def options_of_serve(capsys: pytest.CaptureFixture[str]) -> set[str]:
    return set(re.findall(r"--[a-z-]+", numerate(capsys, "serve", "--help")[1]))


def test_they_call_serve_with_options_that_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    called = [
        json.loads(line.partition(" ")[2])
        for line in DOCKERFILE.splitlines()
        if line.startswith(("ENTRYPOINT", "CMD"))
    ]
    arguments = [*called[0], *called[1], *re.search(r"ExecStart=(.+)", UNIT)[1].split()]  # type: ignore[index]
    given = {argument for argument in arguments if argument.startswith("--")}
    assert given == {"--host", "--workers"}
    assert given <= options_of_serve(capsys)
    assert called[0][:2] == ["numerate", "serve"]


def test_the_image_is_made_of_files_that_exist_and_asks_for_life() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert copied
    for names in copied:
        assert all((ROOT / name).exists() for name in names.split())
    assert f"http://127.0.0.1:8000{LIVE}'" in DOCKERFILE
    assert re.search(r"^USER (?!root|0)", DOCKERFILE, re.MULTILINE)


def test_the_service_waits_for_workers_to_end() -> None:
    assert float(re.search(r"TimeoutStopSec=(\d+)", UNIT)[1]) > ENDING_SECONDS  # type: ignore[index]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "numerate.service"
    unit.write_text(UNIT.replace("/opt/numerate/bin/numerate", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
