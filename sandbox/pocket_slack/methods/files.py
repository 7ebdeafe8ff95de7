"""Files of the bot: an address, an upload there, and a share; and their deletion.

Source: https://docs.slack.dev/messaging/working-with-files#uploading_files
"""

import secrets
from dataclasses import replace

from pocket_slack import posts
from pocket_slack.errors import SlackError
from pocket_slack.methods.call import Call
from pocket_slack.methods.chat import target
from pocket_slack.model import Json, UploadedFile

MOST_CHANNELS = 100
LONGEST_ALT_TEXT = 1_000


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
        call.ws.ids.new("F"), name, int(length), call.ws.bot.id, secrets.token_urlsafe(18)
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


def delete(call: Call) -> Json:
    """https://docs.slack.dev/reference/methods/files.delete"""
    file = call.ws.files.get(call.text("file"))
    if file is None:
        raise SlackError("file_not_found")
    if file.is_deleted:
        raise SlackError("file_deleted")
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
