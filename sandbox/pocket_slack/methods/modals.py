"""Modals and home tabs.

Source: https://docs.slack.dev/reference/methods?family=views
"""

from pocket_slack import views
from pocket_slack.blocks import check_view
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.model import Json, View


def open_view(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/views.open"""
    body = _view(call, "modal")
    user_id = _trigger(call)
    return _answer(call, views.open_modal(call.ws, user_id, body))


def push(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/views.push"""
    body = _view(call, "modal")
    user_id = _trigger(call)
    return _answer(call, views.push_modal(call.ws, user_id, body))


def update(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/views.update"""
    body = _view(call)
    view = views.find(call.ws, call.optional("view_id"), call.optional("external_id"))
    return _answer(call, views.update(call.ws, view, body, call.optional("hash")))


def publish(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/views.publish"""
    body = _view(call, "home")
    user_id = call.text("user_id")
    if user_id not in call.ws.users:
        raise SlackError("user_not_found")
    if not call.ws.manifest.has_home_tab:
        raise SlackError("not_enabled")
    return _answer(call, views.publish_home(call.ws, user_id, body, call.optional("hash")))


def _trigger(call: Call) -> str:
    return call.ws.grants.use_trigger(call.text("trigger_id"))


def _view(call: Call, kind: str | None = None) -> Json:
    # Checked before the trigger is used up, so that an invalid view does not cost it. Whether the
    # real Slack has the same order is not documented.
    view = call.json("view", "invalid_arguments")
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", ["[ERROR] missing required field: view"])
    if kind:
        check_view(view, kind)
    return view


def _answer(call: Call, view: View) -> Json:
    return {"view": views.to_slack(call.ws, view)}
