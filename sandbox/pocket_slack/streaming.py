"""Streamed messages: started, appended to, stopped.

Only the recipient sees the pieces as they come. Everyone else, and every app, sees the first piece
until the end, which comes as `message_changed` (agentconnect#1494). Meanwhile the parent's
`agent_session` says that the bot is working; apps get that as a `message_changed` too, although its
text is the same (hermes-agent#83501).

Source: https://docs.slack.dev/reference/methods/chat.startStream
"""

from itertools import groupby
from operator import itemgetter

from pocket_slack import posts
from pocket_slack.errors import SandboxError
from pocket_slack.model import Channel, Json, Message, Stream, User
from pocket_slack.posts import Content, shown
from pocket_slack.text import to_linked, to_mrkdwn, to_rich_text
from pocket_slack.workspace import Workspace

LIVES_S = 300.0
"""Slack ends a stream about five minutes after it began, with an error (hermes-agent#59010 measured 306 s; the
reference says nothing)."""


def pieces(text: str) -> list[Json]:
    """Markdown as chunks; none if there is no text."""
    return [{"type": "markdown_text", "text": text}] if text else []


def start(
    ws: Workspace,
    channel: Channel,
    author: User,
    chunks: list[Json],
    thread_ts: str,
    recipient_id: str,
    is_chunked: bool | None = None,
) -> Message:
    """Starts a streamed message; the caller checks rights and chunks."""
    stream = Stream(recipient_id, list(chunks), is_chunked)
    message = posts.post(
        ws,
        channel,
        author,
        written(ws, chunks),
        thread_ts,
        streaming_state="in_progress",
        stream=stream,
    )
    stream.timer = ws.clock.call_later(LIVES_S, lambda: stop(ws, message, [], state="errored"))
    posts.set_session(ws, channel, thread_ts, author, "processing")
    return message


def append(ws: Workspace, message: Message, chunks: list[Json]) -> None:
    """Adds pieces to a stream; the recipient's page is told, the app is not."""
    stream = _stream(message)
    stream.chunks += chunks
    channel = ws.channels[message.channel_id]
    ws.journal.record(
        "streamed",
        channel=channel.id,
        user=stream.recipient_id,
        message=seen(ws, message, stream.recipient_id),
    )


def stop(
    ws: Workspace,
    message: Message,
    chunks: list[Json],
    blocks: list[Json] | None = None,
    metadata: Json | None = None,
    state: str = "completed",
    session_status: str = "active",
) -> None:
    """Ends a stream: everyone sees all of it, with `blocks` below.

    Args:
        ws: The workspace.
        message: The streamed message.
        chunks: The last pieces.
        blocks: Blocks to add at the end.
        metadata: As for any message.
        state: `completed` or `errored`.
        session_status: The bot's status in the parent from now on: `active` or `processing`.
    """
    stream = _stream(message)
    channel = ws.channels[message.channel_id]
    before = shown(channel, message)
    if stream.timer:
        stream.timer.cancel()
    content = written(ws, stream.chunks + chunks)
    message.stream = None
    message.streaming_state = state
    posts.rewrite(
        ws, message, Content(content.text, content.blocks + (blocks or []), metadata=metadata)
    )
    posts.tell_changed(ws, message, before)
    posts.set_session(ws, channel, message.thread_ts or "", message.author, session_status)


def seen(ws: Workspace, message: Message, user_id: str) -> Json:
    """A message as that user sees it; the recipient of a stream sees all pieces so far."""
    body = shown(ws.channels[message.channel_id], message)
    if message.stream is None or message.stream.recipient_id != user_id:
        return body
    content = written(ws, message.stream.chunks)
    return body | {"text": content.text, "blocks": content.blocks}


def written(ws: Workspace, chunks: list[Json]) -> Content:
    """The content that pieces make up: texts, and tasks as cards.

    A card stands where its task first appears; if there is a plan, it contains all cards.
    """
    tasks: dict[str, Json] = {}
    for chunk in chunks:
        if chunk["type"] == "task_update":
            tasks[chunk["id"]] = _merged(tasks.get(chunk["id"], {}), chunk)
    cards = {id_: _card(ws, task) for id_, task in tasks.items()}
    plans = [chunk["title"] for chunk in chunks if chunk["type"] == "plan_update"][-1:]
    blocks: list[Json] = [
        {"type": "plan", "title": title, "tasks": list(cards.values())} for title in plans
    ]
    untold = {} if plans else dict(cards)
    for kind, group in groupby(chunks, key=itemgetter("type")):
        if kind == "markdown_text":
            blocks.append(_rich(ws, "".join(chunk["text"] for chunk in group)))
        elif kind == "blocks":
            blocks += [block for chunk in group for block in chunk["blocks"]]
        elif kind == "task_update":
            blocks += [untold.pop(chunk["id"]) for chunk in group if chunk["id"] in untold]
    text = to_mrkdwn("".join(chunk.get("text", "") for chunk in chunks))
    said = " ".join(filter(None, [text, *plans, *(card["title"] for card in cards.values())]))
    return Content(said, blocks, unfurl_links=False, unfurl_media=False)


def _rich(ws: Workspace, markdown: str) -> Json:
    return to_rich_text(to_mrkdwn(markdown), to_linked, ws.ids.short())


def _merged(task: Json, chunk: Json) -> Json:
    """The task after a chunk, which replaces title and status, and adds to details and output."""
    added = {
        key: task[key] + chunk[key] for key in ("details", "output") if key in task and key in chunk
    }
    return task | chunk | added


def _card(ws: Workspace, task: Json) -> Json:
    """https://docs.slack.dev/reference/block-kit/blocks/task-card-block"""
    card: Json = {
        "type": "task_card",
        "task_id": task["id"],
        "title": task["title"],
        "status": task["status"],
    }
    rich = {key: _rich(ws, task[key]) for key in ("details", "output") if key in task}
    return card | rich | ({"sources": task["sources"]} if "sources" in task else {})


def _stream(message: Message) -> Stream:
    if message.stream is None:
        raise SandboxError("this message is not a stream, or has ended")
    return message.stream
