"""The steps of slack-sdk's `files_upload_v2`, of which the first gives a file its id before anybody
can see it.

Source: https://docs.slack.dev/messaging/working-with-files#uploading_files
"""

from typing import NamedTuple

from slack_sdk.errors import SlackRequestError

from bot.slack.client import SlackClient


class Upload(NamedTuple):
    """A file that Slack has given an id and an address to send it to."""

    file_id: str
    url: str


async def begin_upload(client: SlackClient, name: str, length: int) -> Upload:
    answer = await client.files_getUploadURLExternal(filename=name, length=length)
    return Upload(answer["file_id"], answer["upload_url"])


async def finish_upload(
    client: SlackClient, upload: Upload, content: bytes, title: str, to: str, comment: str
) -> None:
    """Sends a person the file with this content; raises SlackRequestError if Slack does not take
    that.
    """
    sent = await client._upload_file(
        url=upload.url,
        data=content,
        logger=client._logger,
        timeout=client.timeout,
        proxy=client.proxy,
        ssl=client.ssl,
    )
    if sent.status != 200:
        raise SlackRequestError(f"the upload was answered with HTTP {sent.status}")
    await client.files_completeUploadExternal(
        files=[{"id": upload.file_id, "title": title}], channels=[to], initial_comment=comment
    )
