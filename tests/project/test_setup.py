"""Where tools/setup finds uv. The uv here is a stand-in that writes down its arguments."""

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BASE = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
SYNC = "sync --all-extras --quiet --frozen --no-python-downloads --python "
NOTHING_FITS = (
    "setup: no uv here, and no Python that could install it; install either (Debian, Ubuntu: apt "
    "install python3-venv; uv: https://docs.astral.sh/uv/getting-started/installation/)\n"
)


class Machine:
    """A checkout on a machine that has only a shell and what a test puts on its PATH."""

    def __init__(self, folder: Path) -> None:
        self.checkout, self.path, self._wheels, self._hidden = (
            folder / name for name in ("co", "bin", "whl", "hidden")
        )
        for each in (self.checkout / "tools", self.path, self._wheels, self._hidden):
            each.mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "setup", self.checkout / "tools")
        self.uv = (
            f'#!/bin/sh\necho "$0 $*" >>asked\nmkdir -p .venv/bin; ln -sf {BASE} .venv/bin/python\n'
        )
        for tool in ("sh", "dirname", "mkdir", "ln"):
            (self.path / tool).symlink_to(str(shutil.which(tool)))
        for name in ("pip", "ensurepip"):
            (self._hidden / f"{name}.py").write_text("raise ImportError\n")
        self._write_wheel()

    def _write_wheel(self) -> None:
        version = (
            (ROOT / "tools" / "setup")
            .read_text(encoding="utf-8")
            .partition("uv_version=")[2]
            .split()[0]
        )
        with zipfile.ZipFile(self._wheels / f"uv-{version}-py3-none-any.whl", "w") as wheel:
            script = zipfile.ZipInfo(f"uv-{version}.data/scripts/uv")
            script.external_attr = 0o100755 << 16
            wheel.writestr(script, self.uv)
            wheel.writestr(
                f"uv-{version}.dist-info/METADATA",
                f"Metadata-Version: 2.1\nName: uv\nVersion: {version}\n",
            )
            wheel.writestr(
                f"uv-{version}.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            wheel.writestr(f"uv-{version}.dist-info/RECORD", "")

    def has(self, name: str, script: str) -> None:
        (self.path / name).write_text(script)
        (self.path / name).chmod(0o755)

    def has_python(self, name: str, python: Path, *, hides: bool = False) -> None:
        """Adds a Python; with `hides` it has neither pip nor ensurepip, like Debian's without
        python3-venv.
        """
        hidden = f"PYTHONPATH={self._hidden} " if hides else ""
        self.has(name, f'#!/bin/sh\n{hidden}exec {python} "$@"\n')

    def set_up(self) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": str(self.path),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self._wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }
        command = [self.path / "sh", "tools/setup", "--all-extras"]
        return subprocess.run(
            command, cwd=self.checkout, env=env, capture_output=True, text=True, check=False
        )

    def asked(self) -> str:
        return (self.checkout / "asked").read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_installed_uv_is_used(machine: Machine) -> None:
    machine.has_python("python3", BASE, hides=True)
    machine.has("uv", machine.uv)
    done = machine.set_up()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.asked().startswith(f"{machine.path}/uv {SYNC}")
    assert not (machine.checkout / ".uv").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("ensurepip") is None, reason="no ensurepip (apt install python3-venv)"
)
def test_a_uv_that_cannot_sync_is_replaced_by_one_in_a_new_venv(machine: Machine) -> None:
    machine.has_python("python3", BASE, hides=True)
    machine.has_python("python3.13", Path(sys.executable))  # in a venv made by uv, which has no pip
    machine.has("uv", "#!/bin/sh\nexit 2\n")
    done = machine.set_up()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.asked().startswith(f".uv/bin/uv {SYNC}")
    assert (machine.checkout / ".uv" / "pyvenv.cfg").exists()


def test_one_sentence_says_what_to_install_if_uv_cannot_be_installed(machine: Machine) -> None:
    machine.has_python("python3", BASE, hides=True)
    done = machine.set_up()
    assert (done.returncode, done.stdout, done.stderr) == (1, "", NOTHING_FITS)


def test_one_sentence_says_that_python_is_too_old(machine: Machine) -> None:
    machine.has("python3", "#!/bin/sh\nexit 1\n")
    done = machine.set_up()
    assert done.returncode == 1
    assert done.stderr.startswith(
        "setup: no Python 3.11 or newer found; install one (Debian, Ubuntu: apt install python3 "
    )
    assert done.stderr.count("\n") == 1
