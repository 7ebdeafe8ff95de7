"""Messages that the bot streams piece by piece.

The first piece sets the mode (`markdown_text` or `chunks`); a later one in the other mode is
answered with `streaming_mode_mismatch`. That is not documented, but users have got it from the real
Slack.

Source: https://docs.slack.dev/reference/methods/chat.startStream
"""

from pocket_slack import streaming
from pocket_slack.blocks import check_blocks, check_chunks
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.methods.chat import check_metadata, target
from pocket_slack.model import Channel, Json, Message

DISPLAY_MODES = ("timeline", "plan", "dense")
SESSION_STATUSES = ("active", "processing")


def start(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.startStream"""
    channel = target(call)
    thread_ts = call.optional("thread_ts")
    if thread_ts in (None, "0"):
        raise SlackError("invalid_thread_ts")
    recipient_id = _recipient(call, channel)
    _one_of(call, "task_display_mode", DISPLAY_MODES)
    chunks, is_chunked = _pieces(call)
    message = streaming.start(
        call.ws, channel, call.ws.bot, chunks, str(thread_ts), recipient_id, is_chunked
    )
    return {"channel": channel.id, "ts": message.ts}


def append(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.appendStream"""
    message = _own_stream(call)
    chunks, is_chunked = _pieces(call)
    if is_chunked is None:
        raise SlackError("markdown_text_or_chunks_required")
    _check_mode(message, is_chunked)
    streaming.append(call.ws, message, chunks)
    return {"channel": message.channel_id, "ts": message.ts}


def stop(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/chat.stopStream"""
    message = _own_stream(call)
    chunks, is_chunked = _pieces(call)
    _check_mode(message, is_chunked)
    blocks = call.json("blocks", "invalid_blocks_format") or []
    check_blocks(blocks)
    metadata = call.json("metadata", "invalid_metadata_format")
    check_metadata(metadata, is_update=False)
    status = _one_of(call, "session_status", SESSION_STATUSES) or "active"
    streaming.stop(call.ws, message, chunks, blocks, metadata, session_status=status)
    return {
        "channel": message.channel_id,
        "ts": message.ts,
        "message": message.to_slack(with_metadata=True),
    }


def _recipient(call: Call, channel: Channel) -> str:
    """The user who reads the stream: in direct messages the other member, elsewhere
    `recipient_user_id`.
    """
    if channel.is_im:
        return next(member for member in channel.members if member != call.ws.bot.id)
    if call.optional("recipient_team_id") is None:
        raise SlackError("missing_recipient_team_id")
    user_id = call.optional("recipient_user_id")
    if user_id is None:
        raise SlackError("missing_recipient_user_id")
    if user_id not in call.ws.users:
        raise SlackError("user_not_found")
    return user_id


def _own_stream(call: Call) -> Message:
    message = call.message(call.channel())
    if message.author is not call.ws.bot:
        raise SlackError("message_not_owned_by_app")
    if message.stream is None:
        raise SlackError("message_not_in_streaming_state")
    return message


def _pieces(call: Call) -> tuple[list[Json], bool | None]:
    """The pieces that a call adds, and whether they came as `chunks`; None if it adds nothing."""
    text = call.optional("markdown_text")
    chunks = call.json("chunks", "invalid_chunks")
    if text is not None and chunks is not None:
        raise SlackError("cannot_provide_both_markdown_text_and_chunks")
    if text is None and chunks is None:
        return [], None
    found = chunks if text is None else streaming.pieces(text)
    check_chunks(found)
    return found, text is None


def _check_mode(message: Message, is_chunked: bool | None) -> None:
    stream = message.stream
    if stream is None or is_chunked is None:
        return
    if stream.is_chunked not in (None, is_chunked):
        raise SlackError("streaming_mode_mismatch")
    stream.is_chunked = is_chunked


def _one_of(call: Call, name: str, allowed: tuple[str, ...]) -> str | None:
    value = call.optional(name)
    if value is not None and value not in allowed:
        raise SlackError("invalid_arguments", [f"[ERROR] must be a valid enum value: {name}"])
    return value
