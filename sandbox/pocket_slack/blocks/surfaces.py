"""Modals and home tabs.

Source: https://docs.slack.dev/reference/views
"""

from typing import Any

from pocket_slack.blocks.layouts import EVERYWHERE, IN_MODALS
from pocket_slack.blocks.messages import check_ids
from pocket_slack.blocks.objects import plain_text
from pocket_slack.blocks.schema import Check, array, boolean, choice, record, string, union
from pocket_slack.errors import SlackError

_COMMON: dict[str, Check] = {
    "private_metadata": string(3000),
    "callback_id": string(255),
    "external_id": string(255),
}

_VIEWS = {
    "modal": record(
        {"title": plain_text(24), "blocks": array(union(IN_MODALS), 100)},
        {
            **_COMMON,
            "submit": plain_text(24),
            "close": plain_text(24),
            "clear_on_close": boolean,
            "notify_on_close": boolean,
            "submit_disabled": boolean,
        },
    ),
    "home": record({"blocks": array(union(EVERYWHERE), 100)}, _COMMON),
}


def check_view(view: Any, kind: str) -> None:
    """Checks a view for a modal (`kind="modal"`) or a home tab (`kind="home"`).

    Raises:
        SlackError: `invalid_arguments` with the reasons.
    """
    if wrong := find_wrong_in_view(view, kind):
        raise SlackError(
            "invalid_arguments",
            [f"[ERROR] {text} [json-pointer:{pointer}]" for text, pointer in wrong],
        )


def find_wrong_in_view(view: Any, kind: str) -> list[tuple[str, str]]:
    """What is wrong with a view of that kind, and the JSON pointers to it."""
    found: list[tuple[str, str]] = []

    def report(text: str, pointer: str) -> None:
        found.append((text, pointer))

    if isinstance(view, dict) and view.get("type") in _VIEWS:
        choice(kind)(view["type"], "/view/type", report)
    union(_VIEWS)(view, "/view", report)
    if not found:
        check_ids(view["blocks"], "/view/blocks", report)
        for index, block in enumerate(view["blocks"]):
            if block["type"] == "input" and kind == "modal" and "submit" not in view:
                where = f"/view/blocks/{index}/input"
                report("must define `submit` to use an `input` block in modals", where)
    return found
