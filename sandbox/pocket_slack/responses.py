"""Applies what the app sends in its acks and to its response_urls."""

from typing import Any

from pocket_slack import posts, views
from pocket_slack.blocks import check_blocks
from pocket_slack.errors import SlackError
from pocket_slack.grants import ResponseUrl
from pocket_slack.inputs import elements_of
from pocket_slack.model import Channel, Json, View
from pocket_slack.posts import Content
from pocket_slack.workspace import Workspace


def to_command(ws: Workspace, channel: Channel, user_id: str, response: Json) -> None:
    """Shows the text or blocks in the ack of a slash command, to that user only unless it says
    `in_channel`.
    """
    if not response:
        return
    try:
        content = content_of(response)
    except SlackError as error:
        command_failed(ws, channel, user_id, "The command", error.code)
        return
    if response.get("response_type") == "in_channel":
        posts.post(ws, channel, ws.bot, content)
    else:
        posts.post_ephemeral(ws, channel, user_id, content)


def command_failed(ws: Workspace, channel: Channel, user_id: str, command: str, error: str) -> None:
    """Tells the user that a command failed, for example because the app did not answer in time."""
    posts.notify(ws, channel, user_id, f'{command} failed with the error "{error}"')


def to_submission(ws: Workspace, view: View, response: Json) -> None:
    """Applies the ack of a `view_submission`:
    https://docs.slack.dev/surfaces/modals#response_actions
    """
    if view not in ws.stacks.get(view.user_id, []):
        return
    try:
        _ACTIONS[response.get("response_action", "close")](ws, view, response)
    except (KeyError, SlackError) as error:
        ws.journal.record(
            "failure", view=view.id, error=f"the response_action was not understood: {error}"
        )
        submission_failed(ws, view)


def submission_failed(ws: Workspace, view: View) -> None:
    """Keeps the modal open, with Slack's error message above it."""
    view.errors = {"": "We had some trouble connecting. Try again?"}
    ws.journal.record("view", user=view.user_id, view=views.to_slack(ws, view), errors=view.errors)


def to_response_url(ws: Workspace, grant: ResponseUrl, body: Json) -> None:
    """Applies a post to a `response_url`.

    Source: https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
    """
    source = grant.source
    channel = ws.channels[grant.channel_id]
    if body.get("delete_original") and source:
        posts.delete(ws, source)
        return
    content = content_of(body)
    if body.get("replace_original") and source:
        posts.edit(ws, source, content, ws.bot)
    elif body.get("response_type") == "in_channel":
        posts.post(ws, channel, ws.bot, content, body.get("thread_ts"))
    else:
        posts.post_ephemeral(ws, channel, grant.user_id, content, body.get("thread_ts"))


def content_of(body: Json) -> Content:
    """The text, blocks and attachments of a response.

    Raises:
        SlackError: `no_text`, or the error for invalid blocks.
    """
    blocks = body.get("blocks") or []
    check_blocks(blocks)
    more = {
        name: body[name] for name in ("metadata", "unfurl_links", "unfurl_media") if name in body
    }
    content = Content(body.get("text") or "", blocks, body.get("attachments") or [], **more)
    if content.is_empty:
        raise SlackError("no_text")
    return content


def _close(ws: Workspace, view: View, response: Json) -> None:
    views.close(ws, view)


def _clear(ws: Workspace, view: View, response: Json) -> None:
    views.close(ws, view, all_of_them=True)


def _update(ws: Workspace, view: View, response: Json) -> None:
    views.update(ws, view, response["view"])


def _push(ws: Workspace, view: View, response: Json) -> None:
    views.push_modal(ws, view.user_id, response["view"])


def _show_errors(ws: Workspace, view: View, response: Json) -> None:
    errors: dict[str, Any] = response["errors"]
    inputs = {
        block["block_id"]
        for block, _ in elements_of(view.body["blocks"])
        if block["type"] == "input"
    }
    if not errors or not set(errors) <= inputs:
        raise SlackError("errors must name input blocks of the view by their block_id")
    view.errors = errors
    ws.journal.record("view", user=view.user_id, view=views.to_slack(ws, view), errors=errors)


_ACTIONS = {
    "close": _close,
    "clear": _clear,
    "update": _update,
    "push": _push,
    "errors": _show_errors,
}
