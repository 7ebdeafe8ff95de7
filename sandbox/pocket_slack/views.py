"""Modals on people's screens, at most three deep, and home tabs.

Source: https://docs.slack.dev/surfaces/modals
"""

from pocket_slack.blocks import check_view, normalised, with_emoji
from pocket_slack.errors import SlackError
from pocket_slack.inputs import elements_of, state_values
from pocket_slack.model import Json, View
from pocket_slack.workspace import Workspace

DEEPEST = 3
LARGEST_BYTES = 250_000


def open_modal(ws: Workspace, user_id: str, body: Json) -> View:
    """Opens a modal; it replaces all open ones."""
    view = _new(ws, user_id, body, "modal")
    ws.stacks[user_id] = [view]
    return show(ws, view)


def push_modal(ws: Workspace, user_id: str, body: Json) -> View:
    """Opens a modal on top of the open one."""
    stack = ws.stacks.get(user_id, [])
    if len(stack) >= DEEPEST:
        raise SlackError("push_limit_reached")
    view = _new(ws, user_id, body, "modal")
    if stack:
        view.root_id = stack[0].id
        view.previous_id = stack[-1].id
    ws.stacks[user_id] = [*stack, view]
    return show(ws, view)


def publish_home(ws: Workspace, user_id: str, body: Json, expected_hash: str | None = None) -> View:
    """Publishes or updates a user's home tab."""
    old = ws.homes.get(user_id)
    if old:
        return update(ws, old, body, expected_hash)
    ws.homes[user_id] = view = _new(ws, user_id, body, "home")
    return show(ws, view)


def update(ws: Workspace, view: View, body: Json, expected_hash: str | None = None) -> View:
    """Replaces a view's content; typed values stay if their block id and action id stay.

    Raises:
        SlackError: `hash_conflict` if the view has changed since the caller saw it.
    """
    if expected_hash is not None and expected_hash != view.hash:
        raise SlackError("hash_conflict")
    view.body = _checked(ws, body, view.body["type"], view)
    view.external_id = view.body.get("external_id", "")
    view.hash = ws.ids.view_hash()
    view.errors = {}
    kept = {
        (block["block_id"], element["action_id"])
        for block, element in elements_of(view.body["blocks"])
    }
    view.values = {
        block: {action: state for action, state in actions.items() if (block, action) in kept}
        for block, actions in view.values.items()
    }
    return show(ws, view)


def close(ws: Workspace, view: View, all_of_them: bool = False) -> None:
    """Closes a modal and all above it; the one below shows again."""
    stack = ws.stacks.get(view.user_id, [])
    ws.stacks[view.user_id] = [] if all_of_them else stack[: stack.index(view)]
    ws.journal.record("view", user=view.user_id, view=view.id, closed=True)


def find(ws: Workspace, view_id: str | None, external_id: str | None) -> View:
    """The open view or home tab with that id.

    Raises:
        SlackError: `not_found`, as `views.update` documents:
            https://docs.slack.dev/reference/methods/views.update
    """
    everything = [view for stack in ws.stacks.values() for view in stack] + list(ws.homes.values())
    for view in everything:
        if (view_id and view.id == view_id) or (external_id and view.external_id == external_id):
            return view
    raise SlackError("not_found")


def show(ws: Workspace, view: View) -> View:
    """Sends a view to the person's pages and returns it."""
    kind = "home" if view.body["type"] == "home" else "view"
    ws.journal.record(kind, user=view.user_id, view=to_slack(ws, view))
    return view


def to_slack(ws: Workspace, view: View) -> Json:
    """A view as in payloads and answers: https://docs.slack.dev/reference/views"""
    body = view.body
    is_modal = body["type"] == "modal"
    modal = (
        {"submit": body.get("submit"), "submit_disabled": body.get("submit_disabled", False)}
        if is_modal
        else {}
    )
    return {
        "id": view.id,
        "team_id": ws.team_id,
        "type": body["type"],
        "blocks": body["blocks"],
        "private_metadata": body.get("private_metadata", ""),
        "callback_id": body.get("callback_id", ""),
        "state": {"values": state_values(body["blocks"], view.values)},
        "hash": view.hash,
        "title": body.get("title", {"type": "plain_text", "text": "View Title", "emoji": True}),
        "clear_on_close": body.get("clear_on_close", False),
        "notify_on_close": body.get("notify_on_close", False),
        "close": body.get("close"),
        **modal,
        "previous_view_id": view.previous_id,
        "root_view_id": view.root_id,
        "app_id": ws.app_id,
        "external_id": view.external_id,
        "app_installed_team_id": ws.enterprise_id or ws.team_id,
        "bot_id": ws.bot.bot_id,
    }


def _new(ws: Workspace, user_id: str, body: Json, kind: str) -> View:
    view_id = ws.ids.new("V")
    checked = _checked(ws, body, kind)
    return View(
        view_id, user_id, checked, ws.ids.view_hash(), view_id, None, checked.get("external_id", "")
    )


def _checked(ws: Workspace, body: Json, kind: str, replaced: View | None = None) -> Json:
    check_view(body, kind)
    if len(str(body)) > LARGEST_BYTES:
        raise SlackError("view_too_large")
    external_id = body.get("external_id")
    open_views = [view for stack in ws.stacks.values() for view in stack if view is not replaced]
    if external_id and any(view.external_id == external_id for view in open_views):
        raise SlackError("duplicate_external_id")
    texts = {key: with_emoji(body[key]) for key in ("title", "submit", "close") if body.get(key)}
    return {**body, **texts, "blocks": normalised(body["blocks"], ws.ids)}
