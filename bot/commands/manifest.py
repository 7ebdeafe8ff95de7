"""`judge-bot manifest`: the app's manifest, to be pasted into Slack."""

import yaml

from bot.errors import BotError
from bot.slack.manifest import FULL, MESSAGE_EVENTS, MINIMAL, load_manifest, load_parts


def to_yaml(names: str, *, is_minimal: bool) -> str:
    """The manifest with the parts of these names, which are separated by commas."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    parts = load_parts()
    if unknown := [name for name in wanted if name not in parts]:
        raise BotError(f"--with {unknown[0]}: unknown; expected {' or '.join(parts)}; separate several by a comma")
    if is_minimal and MESSAGE_EVENTS in wanted:
        raise BotError(f"--with {MESSAGE_EVENTS}: the minimal manifest may read no messages; leave out --minimal")
    manifest = load_manifest(MINIMAL if is_minimal else FULL, wanted)
    return yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=120)
