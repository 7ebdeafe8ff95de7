"""Workspace files: what they define, and the messages for broken ones."""

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic_core import PydanticCustomError

from pocket_slack import ManualClock, Sandbox, SandboxError, Workspace
from pocket_slack.people import Person
from pocket_slack.workspace_file import open_workspace, read_workspace_file, to_ago
from sandbox.tests.conftest import MANIFEST

FILE = '''name = "Small"

[[people]]
name = "ann"
real_name = "Ann Lee"

[[bots]]
name = "a helper"

[[channels]]
name = "help"
members = ["ann", "a helper"]

[[channels.messages]]
from = "ann"
text = """
[[channels]]
name = 3"""

[[channels.messages.replies]]
from = "a helper"
text = "*yes*"

[[channels]]
name = "quiet"
private = true
app = false
members = ["ann"]
'''


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_defines_people_channels_and_threads(tmp_path: Path) -> None:
    workspace = open_workspace(MANIFEST, written(tmp_path, FILE))
    ann = Person(workspace, "ann")
    [question] = ann.messages("help")
    assert question.text == "[[channels]]\nname = 3"
    assert [reply.text for reply in ann.thread("help", question.ts)[1:]] == ["*yes*"]
    assert (workspace.name, ann.user.real_name) == ("Small", "Ann Lee")
    assert workspace.bot.id in workspace.channel("help").members
    quiet = workspace.channel("quiet")
    assert (quiet.is_private, quiet.members) == (True, [ann.id])


def test_the_example_shows_threads_and_a_private_channel_without_the_app() -> None:
    workspace = open_workspace(MANIFEST)
    public, private = workspace.channels.values()
    assert [
        len(public.replies(message.ts))
        for message in Person(workspace, "ann").messages("help-desk")
    ] == [1, 1]
    assert private.is_private
    assert workspace.bot.id in public.members
    assert workspace.bot.id not in private.members


def test_each_person_has_direct_messages_with_an_app_that_accepts_messages() -> None:
    home = {"home_tab_enabled": True, "messages_tab_enabled": True}
    manifest = MANIFEST | {"features": MANIFEST["features"] | {"app_home": home}}
    workspace = open_workspace(manifest)
    direct = [channel.members for channel in workspace.channels.values() if channel.is_im]
    assert direct == [[workspace.user(name).id, workspace.bot.id] for name in ("ann", "ben")]
    assert not [channel for channel in open_workspace(MANIFEST).channels.values() if channel.is_im]


def test_messages_have_the_age_in_the_file_or_the_time_of_the_start(tmp_path: Path) -> None:
    text = FILE.replace('from = "ann"\n', 'from = "ann"\nago = "1d 2h"\n')
    clock = ManualClock()
    workspace = open_workspace(MANIFEST, written(tmp_path, text), clock=clock)
    question, answer = workspace.channel("help").messages.values()
    assert float(question.ts) == clock.now() - 26 * 3600
    assert float(answer.ts) == clock.now()
    clock.advance(60)
    assert float(Person(workspace, "ann").post("help", "later").ts) == clock.now()


def test_messages_of_all_channels_are_added_in_order_of_time(tmp_path: Path) -> None:
    older = '\n[[channels.messages]]\nfrom = "ann"\nago = "2d"\ntext = "older"\n'
    text = FILE.replace('from = "ann"\n', 'from = "ann"\nago = "5m"\n') + older
    workspace = open_workspace(MANIFEST, written(tmp_path, text), clock=ManualClock())
    said = [entry.data["message"]["text"] for entry in workspace.journal.of("message")]
    assert said[0] == "older"
    assert len(said) == 3


@pytest.mark.parametrize("ago", ["3", "2h 3d", "", 5])
def test_an_invalid_age_is_refused(ago: object) -> None:
    with pytest.raises(PydanticCustomError, match='such as "1d 3h" or "25m"'):
        to_ago(ago)


def test_an_age_is_days_hours_and_minutes() -> None:
    assert to_ago("3d 2h 5m") == timedelta(days=3, hours=2, minutes=5)
    assert to_ago("90m") == timedelta(minutes=90)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            'name = "ann"\nreal',
            'nam = "ann"\nreal',
            "line 4: people.1.nam: there is no such setting",
        ),
        ('name = "ann"\nreal', "real", "line 3: people.1.name: this has to be given"),
        (
            "private = true",
            'private = "no?"',
            "line 26: channels.2.private: Input should be a valid boolean",
        ),
        (
            'from = "a helper"',
            'from = "zoe"',
            "line 21: channels.1.messages.1.replies.1.from: 'zoe' is not among the",
        ),
        (
            'members = ["ann"]',
            'members = ["bob"]',
            "line 28: channels.2.members: no person or bot is called 'bob'",
        ),
        ('name = "quiet"', 'name = "help"', "line 25: channels.2.name: 'help' is there already"),
        ('name = "a helper"', 'name = "ann"', "line 8: bots.1.name: 'ann' is there already"),
        (
            'name = "ann"',
            'name = "ann lee"',
            "line 4: people.1.name: up to 80 letters, digits, dots",
        ),
        ('name = "ann"', 'name = "echo"', "line 4: people.1.name: 'echo' is there already"),
        (
            'members = ["ann"]',
            'members = "ann"',
            'line 28: channels.2.members: a list has to be given, such as ["ann"',
        ),
        ('name = "Small"', 'name = "?"', "line 1: name: the workspace's name '?' has no letter"),
        (
            'from = "ann"\n',
            'from = "ann"\nago = "soon"\n',
            (
                "line 16: channels.1.messages.1.ago: expected days, hours and minutes, such as "
                '"1d 3h" or "25m"'
            ),
        ),
        (
            'from = "a helper"\n',
            'ago = "3m"\nfrom = "a helper"\n',
            (
                "line 21: channels.1.messages.1.replies.1.ago: older than the message that it "
                "replies to"
            ),
        ),
        (
            'text = "*yes*"',
            'text = "*yes*"\n\n[[channels.messages]]\nfrom = "ann"\ntext = "x"\nago = "1h"\n',
            "line 27: channels.1.messages.2.ago: older than the message above it; messages stand",
        ),
        (
            "[[bots]]",
            "[[bots]",
            "not TOML: Expected ']]' at the end of an array declaration (at line 7",
        ),
        (FILE, "", "people: this has to be given"),
    ],
)
def test_a_broken_file_is_refused_with_line_and_reason(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    assert FILE.count(old) >= 1
    with pytest.raises(SandboxError) as caught:
        open_workspace(MANIFEST, written(tmp_path, FILE.replace(old, new)))
    assert complaint in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"none\.toml: cannot be read"):
        read_workspace_file(tmp_path / "none.toml")


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "picture.toml"
    path.write_bytes(b"\x89PNG\xff")
    with pytest.raises(SandboxError, match=r"picture\.toml: cannot be read"):
        read_workspace_file(path)


async def test_a_second_sandbox_on_a_port_is_refused_in_one_sentence() -> None:
    async with Sandbox(Workspace(MANIFEST)) as first:
        with pytest.raises(
            SandboxError, match=f"port {first.port} is taken, perhaps by another pocket Slack"
        ):
            await Sandbox(Workspace(MANIFEST), first.port).start()


def test_links_have_their_previews_from_the_start(tmp_path: Path) -> None:
    url = "https://wiki.example/page"
    text = f'{FILE.replace("*yes*", url)}\n[[previews]]\nurl = "{url}"\ntitle = "The page"\n'
    channel = open_workspace(MANIFEST, written(tmp_path, text), clock=ManualClock()).channel("help")
    [preview] = [each for message in channel.messages.values() for each in message.attachments]
    assert (preview["title"], preview["service_name"]) == ("The page", "wiki.example")
