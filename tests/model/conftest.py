import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ENGINE = Path(__file__).parent / "engine.py"
PACKAGES = Path(__file__).parents[2] / "build" / "model"


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a real server with a real model, which `make test-model` installs."""
    with subprocess.Popen(
        [sys.executable, ENGINE],
        env=os.environ | {"PYTHONPATH": str(PACKAGES)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        line = process.stdout.readline().strip()
        assert line, f"no server; {PACKAGES} is made by make test-model"
        yield line
        process.communicate("")
