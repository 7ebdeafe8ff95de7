"""Messages must also be right for an app that is installed from a wheel, without the files of the
checkout.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODULES = [
    path
    for package in ("bot", "judge", "sandbox/pocket_slack")
    for path in sorted((ROOT / package).rglob("*.py"))
]
_OF_THE_CHECKOUT = re.compile(
    r"README|CHANGELOG|\bdocs/|\bdeploy/|\btests/|checkout|\.env\.example|\bmake "
    r"(?:setup|demo|run|doctor|sandbox)"
)


def texts(module: Path) -> Iterator[str]:
    """The strings of a module that are not docstrings."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    described = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in described
        ):
            yield node.value


def test_no_message_refers_to_a_file_of_the_checkout() -> None:
    assert len(MODULES) > 100
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in MODULES
        for text in texts(path)
        if _OF_THE_CHECKOUT.search(text)
    ]
    assert found == []
