"""The core's tests start without torch and without a browser."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ON_A_GPU = ("tests/lm/backbones/pretrained/test_devices.py", "tests/lm/inspect/test_inspect.py")


def test_what_all_tests_share_imports_neither_torch_nor_a_browser() -> None:
    code = "import sys, tests.conftest; print({'torch', 'playwright', 'pyarrow'} & {*sys.modules})"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_tests_of_models_run_without_a_browser(tmp_path: Path) -> None:
    """As on a machine with a GPU, where playwright may not be installed."""
    (tmp_path / "playwright.py").write_text("raise ImportError('not installed')\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pytest; sys.exit(pytest.main())"
    )
    arguments = ["-q", "-n0", "-p", "no:cacheprovider", "--collect-only", *ON_A_GPU]
    command = [sys.executable, "-c", code, *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:]
