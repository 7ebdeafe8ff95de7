"""`judge-bot view`: what a channel may see, in one page, and nothing of what it may not."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from bot.domain.case import CaseSource, CaseTurn, Part
from bot.domain.label import Label
from bot.store import Store
from bot.store.schema import cases, labels
from tests.cases import delivered, judged, url
from tests.programs import OPERATOR, command, with_log

pytestmark = pytest.mark.usefixtures("log_file")

SAID = CaseTurn(
    part=Part.CONVERSATION, ts="1.1", author_id="UBEN", role="Person 1", text="Hm.", text_hash=""
)
TALK = {"turns": (SAID,), "messages_before": 1}


async def viewed(database_url: str, folder: Path, *options: str) -> dict[str, Any]:
    """The data of the page."""
    code, out, err = await command(
        "view", database_url, folder, "--channel", "C1", "-o", "page.html", *options
    )
    assert (code, err) == (0, "")
    data = _data((folder / "page.html").read_text(encoding="utf-8"))
    number = len(data["replies"])
    assert out.startswith(f"page.html: {number:,} {'reply' if number == 1 else 'replies'}, ")
    return data


def _data(page: str) -> dict[str, Any]:
    found = page.partition('<script id="data" type="application/json">')[2].partition("</script>")[
        0
    ]
    return dict(json.loads(found))


async def test_page_has_the_channels_replies_with_ratings_and_labels_and_no_names(
    tmp_path: Path,
) -> None:
    async def fill(log: Store) -> None:
        case = await delivered(
            log, "a", requester_id="UANN", requester_name="Ann Smith", author_id="UBOT", **TALK
        )
        await log.labels.put(case, "UBEN", Label(1, "Wrong."))
        blind = {"is_blind": True, "probability": 0.25}
        await log.database.execute(update(labels).where(labels.c.user_id == "U9").values(blind))
        await delivered(log, "elsewhere", channel_id="C2")
        await delivered(log, "of another team", team_id="T2", channel_id="C3")
        await log.names.note("T1", "C1", "help-desk")

    await with_log(url(tmp_path), fill)
    data = await viewed(url(tmp_path), tmp_path)
    (reply,) = data["replies"]
    assert data["title"] == "#help-desk"
    assert (reply["name"], reply["score"], reply["question"], reply["response"]) == (
        "Case 1",
        4,
        "Why?",
        "Because.",
    )
    assert reply["before"] == [["Person 1", "Hm."]]
    assert reply["ratings"] == [{"model": "m", "score": 4, "words": "Good."}]
    assert reply["labels"] == [
        {"score": 3, "blind": True, "reason": ""},
        {"score": 1, "blind": False, "reason": "Wrong."},
    ]
    assert dict(reply["facts"])["Usable ratings"] == "1 of 1"
    assert not [
        name for name in ("UBEN", "UANN", "UBOT", "U9", "Smith") if name in json.dumps(data)
    ]


async def test_random_replies_have_a_page_of_their_own_and_are_named_elsewhere(
    tmp_path: Path,
) -> None:
    async def draw(log: Store) -> None:
        watched = {"source": CaseSource.WATCH, "probability": 0.2}
        case = await judged(log, "drawn", message_ts="2.2", **watched)
        await log.labels.put(case, "UBEN", Label(1, "Wrong."))

    async def choose(log: Store) -> None:
        await judged(log, "chosen", message_ts="1.1")

    await with_log(url(tmp_path), draw)
    code, _, err = await command("view", url(tmp_path), tmp_path, "--channel", "C1")
    assert (code, err) == (
        2,
        "judge-bot: C1: no reply that people chose was scored there; --watched shows those that "
        "watches drew, or name another channel\n",
    )
    code, _, err = await command("export", url(tmp_path), tmp_path, "-o", "labels.jsonl")
    assert (code, err) == (
        0,
        "0 labels written\n--watched writes those of replies that watches drew\n",
    )
    await with_log(url(tmp_path), choose)
    for options, title, kind in (
        ((), "C1", "chosen"),
        (("--watched",), "C1, random replies", "drawn"),
    ):
        data = await viewed(url(tmp_path), tmp_path, *options)
        responses = [reply["response"] for reply in data["replies"]]
        assert (data["title"], responses) == (title, [f"Because of {kind}."])


async def test_since_leaves_out_what_was_judged_before(tmp_path: Path) -> None:
    async def fill(log: Store) -> None:
        old = await judged(log, "old")
        await judged(log, "new")
        long_ago = datetime.now(UTC) - timedelta(days=9)
        await log.database.execute(update(cases).filter_by(id=old.id).values(judged_at=long_ago))

    await with_log(url(tmp_path), fill)
    day = f"{datetime.now(UTC) - timedelta(days=3):%Y-%m-%d}"
    data = await viewed(url(tmp_path), tmp_path, "--since", day)
    assert data["title"] == f"C1 since {day}"
    assert [reply["response"] for reply in data["replies"]] == ["Because of new."]
    options = ("--channel", "C1", "--since", "2999-01-01")
    code, _, err = await command("view", url(tmp_path), tmp_path, *options)
    assert (code, "since 2999-01-01; --watched shows" in err) == (2, True)


async def test_without_kept_texts_there_are_none_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fill(log: Store) -> None:
        case = await delivered(log, "a")
        await log.labels.put(case, "UBEN", Label(1, "Wrong words."))

    await with_log(url(tmp_path), fill)
    (tmp_path / ".env").write_text("STORE_TEXT=none\n")
    data = await viewed(url(tmp_path), tmp_path)
    (reply,) = data["replies"]
    assert (reply["score"], len(reply["labels"]), len(reply["ratings"])) == (4, 2, 1)
    for words in ("Why?", "Because.", "Good.", "Wrong words."):
        assert words not in json.dumps(data)


async def test_unscored_replies_say_why_in_few_words(tmp_path: Path) -> None:
    async def fill(log: Store) -> None:
        case = await judged(log, "unscored", score=None)
        detail = {"unscored_detail": "secret words of a server"}
        await log.database.execute(update(cases).filter_by(id=case.id).values(detail))

    await with_log(url(tmp_path), fill)
    data = await viewed(url(tmp_path), tmp_path)
    assert data["replies"][0]["unscored"] == "no reliable score in the model's answer"
    assert "secret words" not in json.dumps(data)


@pytest.mark.parametrize("channel", ["C404", "D1", "T2/C1"])
async def test_channel_without_anything_to_show_is_a_sentence(tmp_path: Path, channel: str) -> None:
    async def fill(log: Store) -> None:
        await judged(log, "a")
        await judged(log, "direct", channel_id="D1")

    await with_log(url(tmp_path), fill)
    code, out, err = await command("view", url(tmp_path), tmp_path, "--channel", channel)
    assert (code, out) == (2, "")
    assert f"--channel {channel!r}: no score there was visible to the whole channel" in err


async def test_who_made_a_page_of_which_channel_is_noted_first(tmp_path: Path) -> None:
    async def see(log: Store) -> None:
        (act,) = await log.audit.since()
        assert (act.team_id, act.who, act.what, act.channel_id) == (
            "T1",
            OPERATOR,
            "exported_channel",
            "C1",
        )

    async def hold(log: Store) -> None:
        async with log.database.engine.begin() as connection:
            await connection.exec_driver_sql(
                "CREATE TRIGGER held BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'held'); END"
            )

    async def fill(log: Store) -> None:
        await judged(log, "a")

    await with_log(url(tmp_path), fill)
    await viewed(url(tmp_path), tmp_path)
    await with_log(url(tmp_path), see)
    await with_log(url(tmp_path), hold)
    code, _, err = await command("view", url(tmp_path), tmp_path, "--channel", "C1")
    assert code == 2
    assert err == "judge-bot: the database cannot be written (held); nothing was exported\n"
    assert not (tmp_path / "C1.html").exists()
