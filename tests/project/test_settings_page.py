"""docs/settings.md: every setting, as defined in the code."""

import re

from bot.settings import Settings
from tools.settings import PAGE, page


def test_the_page_is_generated_from_the_code_with_every_setting_once() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "make it anew: python -m tools.settings"
    named = re.findall(r"^\| `([A-Z_]+)` \|", page(), re.MULTILINE)
    assert sorted(named) == sorted(name.upper() for name in Settings.model_fields)
    in_files = {
        f"SLACK_{name}" for name in ("APP_TOKEN", "BOT_TOKEN", "CLIENT_SECRET", "SIGNING_SECRET")
    }
    in_files |= {"DATABASE_URL", "OPENAI_API_KEY", "TOKEN_KEYS"}
    assert set(re.findall(r"`([A-Z_]+)_FILE`", page())) == in_files
