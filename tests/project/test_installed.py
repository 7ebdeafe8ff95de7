"""Messages must also be right for an app that is installed from a wheel, without the files of the
checkout.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import SettingsError
from bot.settings import load_settings
from bot.slack.manifest import manifest_path

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


def test_a_missing_token_names_the_page_to_get_it_and_the_manifest_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError) as error:
        load_settings(env_file=None, judge_model="offline")
    bot, app = (line.strip() for line in str(error.value).splitlines()[1:])
    assert bot.startswith(
        "SLACK_BOT_TOKEN: missing; expected a token that begins with xoxb- (api.slack.com/apps > "
    )
    assert str(manifest_path()) in bot
    assert manifest_path().is_file()
    assert app.startswith(
        "SLACK_APP_TOKEN: missing; expected a token that begins with xapp- (api.slack.com/apps > "
    )
