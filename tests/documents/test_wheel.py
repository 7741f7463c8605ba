"""Every format is read by an installed wheel as it is from a checkout: there its entry points come
in another order, and files that nobody packed are missing."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.documents.samples import SAMPLES, write_samples

ROOT = Path(__file__).parents[2]
FOUND = "20 of 80 is 25 %, not 35 %"
ELSEWHERE = {"about-latexml.html", "a.xlsx"}  # say something else
LIBRARIES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel installed in it."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", folder / "site", wheel], check=True, capture_output=True)
    return folder / "site"


def run_python(
    site: Path, *arguments: str | Path, cwd: Path, checkout: bool = False
) -> subprocess.CompletedProcess[str]:
    """Without `site`, Python reads no .pth file, by which an installation leads to the checkout."""
    source = [ROOT / "src"] if checkout else []
    path = os.pathsep.join(map(str, dict.fromkeys([site, *LIBRARIES, *source])))
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("checkout", [False, True])
def test_the_wheel_stands_alone(site: Path, tmp_path: Path, checkout: bool) -> None:
    code = "import numerate, sys; print(numerate.__file__, *sys.path, sep='\\n')"
    done = run_python(site, "-c", code, cwd=tmp_path, checkout=checkout)
    file, *path = done.stdout.splitlines()
    assert Path(file).is_relative_to(site)
    assert (str(ROOT / "src") in path) == checkout


@pytest.mark.parametrize("checkout", [False, True])
def test_check_finds_the_error_in_every_format(site: Path, tmp_path: Path, checkout: bool) -> None:
    write_samples(tmp_path)
    run = ("-m", "numerate", "check", "--model", "none", *SAMPLES)
    done = run_python(site, *run, cwd=tmp_path, checkout=checkout)
    assert done.returncode == 1, done.stderr
    for name in SAMPLES.keys() - ELSEWHERE:
        lines = [line for line in done.stdout.splitlines() if line.startswith(name)]
        assert [line for line in lines if FOUND in line], f"{name}: {done.stdout}"


def test_check_writes_a_page(site: Path, tmp_path: Path) -> None:
    """From templates, a stylesheet and a script that the wheel has beside the code."""
    write_samples(tmp_path)
    sample = min(SAMPLES.keys() - ELSEWHERE)
    run = ("-m", "numerate", "check", "--model", "none", "--format", "html", sample)
    done = run_python(site, *run, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "<!doctype html>" in done.stdout
    assert FOUND in done.stdout
    source = ROOT / "src"
    packed = {path.relative_to(site).as_posix() for path in (site / "numerate").rglob("*.jinja")}
    assert packed == {path.relative_to(source).as_posix() for path in source.rglob("*.jinja")}


def test_prepare_reads_every_format(site: Path, tmp_path: Path) -> None:
    write_samples(tmp_path / "samples")
    run = ("-m", "numerate", "prepare", "samples", "--out", "data", "--keep", "all")
    done = run_python(site, *run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Samples that say the same word for word are one document and its copies.
    assert f"{len(SAMPLES)} documents" in done.stdout + done.stderr, done.stdout + done.stderr
    assert "not a" not in done.stdout + done.stderr


def test_compare_reads_every_format(site: Path, tmp_path: Path) -> None:
    write_samples(tmp_path)
    (tmp_path / "claims.txt").write_text("There were 80 people, and 77 dogs.", encoding="utf-8")
    sources = [part for name in SAMPLES for part in ("--source", name)]
    done = run_python(site, "-m", "numerate", "compare", "claims.txt", *sources, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "77" in done.stdout


def test_formats_are_chosen_alike(site: Path) -> None:
    """The only tests of formats that depend on how the package was installed."""
    options = ("-q", "-n0", "-p", "no:cacheprovider", "tests/documents/test_format_choice.py")
    done = run_python(site, "-m", "pytest", *options, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
