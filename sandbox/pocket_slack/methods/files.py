"""Files of the bot: an address, an upload there, and a share; what is there, and its deletion.

Source: https://docs.slack.dev/messaging/working-with-files#uploading_files
"""

import math
import secrets
import sys
from dataclasses import replace

from pocket_slack import posts
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.methods.chat import target
from pocket_slack.model import Channel, Json, UploadedFile

MOST_CHANNELS = 100
LONGEST_ALT_TEXT = 1_000
MOST_LISTED = 1_000

_TYPES = {
    "all": "",
    "images": "image/",
    "pdfs": "application/pdf",
    "zips": "application/zip",
    "gdocs": "none/",
    "snippets": "none/",
    "spaces": "none/",
}
_PLACES = {"channels": "channels", "groups": "groups", "mpim": "groups", "im": "ims"}


def get_upload_url(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/files.getUploadURLExternal"""
    name = call.text("filename")
    length = call.text("length")
    if not length.isdigit():
        raise SlackError("invalid_arguments", ["[ERROR] must be an integer: length"])
    if int(length) == 0:
        raise SlackError("missing_argument")
    if len(call.optional("alt_txt") or "") > LONGEST_ALT_TEXT:
        raise SlackError("alt_txt_too_large")
    file = UploadedFile(
        call.ws.ids.new("F"),
        name,
        int(length),
        call.ws.bot.id,
        secrets.token_urlsafe(18),
        int(call.ws.clock.now()),
    )
    call.ws.files[file.id] = file
    return {"upload_url": f"{call.ws.grants.base_url}/upload/v1/{file.ticket}", "file_id": file.id}


def complete_upload(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/files.completeUploadExternal"""
    given = call.json("files", "invalid_arguments")
    if (
        not isinstance(given, list)
        or not given
        or not all(isinstance(each, dict) for each in given)
    ):
        raise SlackError("invalid_arguments", ["[ERROR] missing required field: files"])
    files = [call.ws.files.get(str(each.get("id"))) for each in given]
    found = [each for each in files if each and each.content is not None and not each.is_complete]
    if len(found) != len(given):
        raise SlackError("file_not_found")
    names = (call.optional("channel_id") or call.optional("channels") or "").split(",")
    if len(names) > MOST_CHANNELS:
        raise SlackError("channels_limit_exceeded")
    thread_ts = call.optional("thread_ts")
    if thread_ts and len(names) > 1:
        raise SlackError("invalid_arguments", ["[ERROR] only one channel with thread_ts"])
    channels = [target(replace(call, args={"channel": each.strip()})) for each in names if each]
    comment = call.optional("initial_comment")
    content = (
        posts.Content(comment) if comment else call.content()
    )  # blocks do not count beside a comment
    for file, said in zip(found, given, strict=True):
        file.title = str(said.get("title") or file.name)
        file.is_complete = True
    for channel in channels:
        shared = replace(content, files=[each.to_slack() for each in found])
        posts.post(call.ws, channel, call.ws.bot, shared, thread_ts)
    return {"files": [each.to_slack() for each in found]}


def info(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/files.info"""
    file = _shown(call, _named(call))
    return {"file": file, "comments": [], "response_metadata": {"next_cursor": ""}}


def list_all(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/files.list"""
    call.team()
    kinds = [_TYPES.get(each) for each in (call.optional("types") or "all").split(",")]
    if None in kinds:
        raise SlackError("unknown_type")
    user_id = call.optional("user")
    if user_id and user_id not in call.ws.users:
        raise SlackError("user_not_found")
    channel = call.channel() if call.optional("channel") else None
    first = call.integer("ts_from", 0, sys.maxsize, lowest=0)
    last = call.integer("ts_to", sys.maxsize, sys.maxsize, lowest=0)
    files = [
        file
        for file in reversed(call.ws.files.values())
        if file.is_complete
        and not file.is_deleted
        and file.mimetype.startswith(tuple(kind for kind in kinds if kind is not None))
        and user_id in (None, file.user_id)
        and (channel is None or _is_in(channel, file))
        and first <= file.created <= last
    ]
    count = call.integer("count", 100, MOST_LISTED)
    page = call.integer("page", 1, sys.maxsize)
    paging = {
        "count": count,
        "total": len(files),
        "page": page,
        "pages": math.ceil(len(files) / count),
    }
    shown = [_shown(call, file) for file in files[(page - 1) * count : page * count]]
    return {"files": shown, "paging": paging}


def delete(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/files.delete"""
    file = _named(call)
    file.is_deleted = True
    file.content = None
    for channel in call.ws.channels.values():
        for message in channel.messages.values():
            if any(each.get("id") == file.id for each in message.files):
                before = posts.shown(channel, message)
                message.files = [
                    file.to_slack() if each.get("id") == file.id else each for each in message.files
                ]
                posts.tell_changed(call.ws, message, before)
    return {}


def _named(call: Call) -> UploadedFile:
    file = call.ws.files.get(call.text("file"))
    if file is None:
        raise SlackError("file_not_found")
    if file.is_deleted:
        raise SlackError("file_deleted")
    return file


def _is_in(channel: Channel, file: UploadedFile) -> bool:
    shared = (each for message in channel.messages.values() for each in message.files)
    return any(each.get("id") == file.id for each in shared)


def _shown(call: Call, file: UploadedFile) -> Json:
    """A file, and where it was shared."""
    places: dict[str, list[str]] = {"channels": [], "groups": [], "ims": []}
    for channel in call.ws.channels.values():
        if _is_in(channel, file):
            places[_PLACES[channel.kind]].append(channel.id)
    return file.to_slack() | places
