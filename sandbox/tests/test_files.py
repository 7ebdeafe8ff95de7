"""Files, as the Slack SDK uploads them: an address, the content, a share; and their deletion."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import Sandbox, Workspace
from pocket_slack.people import Person
from pocket_slack.stream import to_events

Call = Any
Refused = Any


async def test_the_sdk_shares_a_file_with_a_person_and_deletes_it(
    slack: Sandbox, client: AsyncWebClient
) -> None:
    ann = slack.person("ann")
    answer = await client.files_upload_v2(
        content="one\ntwo",
        filename="rows.jsonl",
        title="Rows",
        channels=[ann.id],
        initial_comment="Here it is.",
    )
    file = slack.workspace.files[answer["file"]["id"]]
    assert (file.content, file.length) == (b"one\ntwo", 7)
    (message,) = slack.workspace.channel(ann.im).messages.values()
    assert (message.text, message.files[0]["title"]) == ("Here it is.", "Rows")
    await client.files_delete(file=file.id)
    assert (message.files, file.content) == ([{"id": file.id, "mode": "tombstone"}], None)
    with pytest.raises(SlackApiError, match="file_deleted"):
        await client.files_delete(file=file.id)
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_delete(file="F0")


async def test_an_upload_counts_once_and_whole(slack: Sandbox, client: AsyncWebClient) -> None:
    begun = await client.files_getUploadURLExternal(filename="a.txt", length=3)
    files = [{"id": begun["file_id"], "title": "A"}]
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_completeUploadExternal(files=files)
    async with aiohttp.ClientSession() as http:
        statuses = [
            (await http.post(begun["upload_url"], data=data)).status
            for data in (b"four", b"one", b"two")
        ]
        form = aiohttp.FormData()
        other = await client.files_getUploadURLExternal(filename="b.txt", length=3)
        form.add_field("file", b"six", filename="b.txt")
        statuses.append((await http.post(other["upload_url"], data=form)).status)
    assert statuses == [400, 200, 400, 200]
    ann = Person(slack.workspace, "ann")
    seen = [data for entry in slack.workspace.journal.entries for _, data in to_events(ann, entry)]
    assert [each["status"] for each in seen if each.get("method") == "upload"] == statuses
    await client.files_completeUploadExternal(files=files)
    with pytest.raises(SlackApiError, match="file_not_found"):
        await client.files_completeUploadExternal(files=files)


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("getUploadURLExternal", {"filename": "a", "length": 0}, "missing_argument"),
        ("getUploadURLExternal", {"filename": "a", "length": "many"}, "invalid_arguments"),
        ("getUploadURLExternal", {"length": 1}, "invalid_arguments"),
        (
            "getUploadURLExternal",
            {"filename": "a", "length": 1, "alt_txt": "x" * 1001},
            "alt_txt_too_large",
        ),
        ("completeUploadExternal", {"files": "[]"}, "invalid_arguments"),
        ("completeUploadExternal", {"files": '[{"id": "F0"}]'}, "file_not_found"),
    ],
)
def test_what_is_wrong_is_refused(
    refused: Refused, method: str, args: dict[str, Any], error: str
) -> None:
    assert refused(f"files.{method}", **args).code == error


def test_a_file_is_shared_only_where_the_bot_may_post(
    workspace: Workspace, call: Call, refused: Refused
) -> None:
    file = workspace.files[call("files.getUploadURLExternal", filename="a", length=1)["file_id"]]
    file.content = b"x"
    secret = workspace.channel("secret").id
    here = workspace.channel("help").id
    files = [{"id": file.id}]
    assert (
        refused("files.completeUploadExternal", files=files, channel_id=secret).code
        == "channel_not_found"
    )
    many = ",".join([here] * 101)
    assert (
        refused("files.completeUploadExternal", files=files, channels=many).code
        == "channels_limit_exceeded"
    )
    call("files.completeUploadExternal", files=files, channels=here)
    assert [message.files[0]["id"] for message in workspace.channel("help").messages.values()] == [
        file.id
    ]
