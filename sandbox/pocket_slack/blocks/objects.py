"""Composition objects: texts, options, confirmations.

Source: https://docs.slack.dev/reference/block-kit/composition-objects
"""

from pocket_slack.blocks.schema import Check, array, boolean, choice, record, string, union, whole

ACTION_ID = string(255, 1)
BLOCK_ID = string(255, 1)
URL = string(3000, 1)


def plain_text(longest: int) -> Check:
    """A `plain_text` object of 1 to `longest` characters."""
    return whole(union({"plain_text": record({"text": string(longest, 1)}, {"emoji": boolean})}))


def any_text(longest: int) -> Check:
    """A `plain_text` or `mrkdwn` object of 1 to `longest` characters."""
    text = {"text": string(longest, 1)}
    kinds = {
        "plain_text": record(text, {"emoji": boolean}),
        "mrkdwn": record(text, {"verbatim": boolean}),
    }
    return whole(union(kinds))


PLACEHOLDER = plain_text(150)

CONFIRM = record(
    {
        "title": plain_text(100),
        "text": any_text(300),
        "confirm": plain_text(30),
        "deny": plain_text(30),
    },
    {"style": choice("primary", "danger")},
)

DISPATCH = record(
    {}, {"trigger_actions_on": array(choice("on_enter_pressed", "on_character_entered"), 2, 1)}
)

SLACK_FILE = record({}, {"id": string(255, 1), "url": URL})

CONVERSATION_FILTER = record(
    {},
    {
        "include": array(choice("im", "mpim", "private", "public"), 4, 1),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    },
)


def option(text: Check, has_url: bool = False) -> Check:
    """An option; only the options of an overflow menu may have a `url`."""
    more = {"url": URL} if has_url else {}
    return record({"text": text, "value": string(150, 1)}, {"description": text, **more})


PLAIN_OPTION = option(plain_text(75))
RICH_OPTION = option(any_text(75))
LINK_OPTION = option(plain_text(75), has_url=True)

OPTION_GROUP = record({"label": plain_text(75), "options": array(PLAIN_OPTION, 100, 1)})
