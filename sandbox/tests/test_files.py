"""Files, as the Slack SDK uploads them: an address, the content, a share; and their deletion."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from pocket_slack import ManualClock, Sandbox, Workspace
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
        ("info", {"file": "F0"}, "file_not_found"),
        ("list", {"types": "films"}, "unknown_type"),
        ("list", {"user": "U0"}, "user_not_found"),
    ],
)
def test_what_is_wrong_is_refused(
    refused: Refused, method: str, args: dict[str, Any], error: str
) -> None:
    assert refused(f"files.{method}", **args).code == error


def test_a_file_is_shared_only_where_the_bot_may_post(
    workspace: Workspace, help_id: str, call: Call, refused: Refused
) -> None:
    file = workspace.files[call("files.getUploadURLExternal", filename="a", length=1)["file_id"]]
    file.content = b"x"
    secret = workspace.channel("secret").id
    files = [{"id": file.id}]
    assert (
        refused("files.completeUploadExternal", files=files, channel_id=secret).code
        == "channel_not_found"
    )
    many = ",".join([help_id] * 101)
    assert (
        refused("files.completeUploadExternal", files=files, channels=many).code
        == "channels_limit_exceeded"
    )
    call("files.completeUploadExternal", files=files, channels=help_id)
    assert [message.files[0]["id"] for message in workspace.channel("help").messages.values()] == [
        file.id
    ]


@pytest.fixture
def shared(workspace: Workspace, clock: ManualClock, call: Call) -> list[str]:
    """The ids of a picture in #help, and of a text that came ten seconds later and is nowhere."""
    ids = []
    for name, channel in (("a.png", workspace.channel("help").id), ("b.txt", "")):
        file_id = call("files.getUploadURLExternal", filename=name, length=1)["file_id"]
        workspace.files[file_id].content = b"x"
        call("files.completeUploadExternal", files=[{"id": file_id}], channel_id=channel)
        clock.advance(10)
        ids.append(file_id)
    return ids


def test_a_file_is_shown_with_its_places(
    workspace: Workspace, help_id: str, shared: list[str], call: Call
) -> None:
    file = call("files.info", file=shared[0])["file"]
    assert (file["mimetype"], file["user"]) == ("image/png", workspace.bot.id)
    assert (file["channels"], file["ims"]) == ([help_id], [])


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ({}, ["b.txt", "a.png"]),
        ({"types": "images,pdfs"}, ["a.png"]),
        ({"types": "spaces"}, []),
        ({"channel": "help"}, ["a.png"]),
        ({"user": "ann"}, []),
        ({"user": "echo"}, ["b.txt", "a.png"]),
        ({"ts_from": "1700000005"}, ["b.txt"]),
        ({"ts_from": "0", "ts_to": "1700000005"}, ["a.png"]),
        ({"count": 1, "page": 2}, ["a.png"]),
    ],
)
def test_files_are_listed_newest_first_by_kind_place_person_and_time(
    workspace: Workspace,
    help_id: str,
    shared: list[str],
    call: Call,
    args: dict[str, Any],
    names: list[str],
) -> None:
    ids = {"help": help_id}
    ids |= {user.name: user.id for user in workspace.users.values()}
    given = {key: ids.get(value, value) for key, value in args.items()}
    assert [file["name"] for file in call("files.list", **given)["files"]] == names


def test_a_deleted_file_is_not_listed(shared: list[str], call: Call, refused: Refused) -> None:
    call("files.delete", file=shared[0])
    assert refused("files.info", file=shared[0]).code == "file_deleted"
    answer = call("files.list")
    assert [file["id"] for file in answer["files"]] == [shared[1]]
    assert answer["paging"] == {"count": 100, "total": 1, "page": 1, "pages": 1}
