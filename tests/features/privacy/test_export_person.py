"""`judge-bot export --user`: all that is stored of a person, and nothing of who else is in it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import insert, update

from bot.domain.case import Visibility
from bot.domain.label import Label
from bot.store import Store
from bot.store.rubrics import SavedRubric
from bot.store.schema import forgotten, notices, releases
from tests.cases import (
    TONE,
    add,
    add_release,
    delivered,
    keep_rubric,
    noted,
    save_visibility,
    thumb,
    url,
)
from tests.programs import OPERATOR, command, with_log

ANN = "U0ANN"
BEN = "U0BEN"
CARL = "U0CARL"
NOTHING = (
    "judge-bot: --user {!r}: nothing is stored about this person; expected a Slack user id, "
    "such as U0123ABCD (their profile > More > Copy member ID)\n"
)


async def exported(database_url: str, folder: Path, user: str = ANN) -> list[dict[str, Any]]:
    code, out, err = await command("export", database_url, folder, "--user", user)
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert err == f"{len(rows):,} {'row' if len(rows) == 1 else 'rows'} written\n"
    return rows


def kinds(rows: list[dict[str, Any]]) -> list[str]:
    return [row["kind"] for row in rows]


async def test_all_that_is_stored_is_there_and_nothing_of_others_or_of_another_team(
    database_url: str, tmp_path: Path
) -> None:
    async def fill(log: Store) -> None:
        secret = "https://hooks.slack.com/secret"
        asked = await delivered(log, "asked", requester_id=ANN, response_url=secret)
        await delivered(log, "wrote", requester_id=BEN, author_id=ANN)
        await delivered(log, "question", requester_id=BEN, question_author_id=ANN)
        await delivered(log, "other", requester_id=BEN, author_id=CARL)
        await log.labels.put(asked, BEN, Label(1, "I disagree."))
        await log.channels.save("T1", "C1", ANN, labels_per_week=3)
        for place, by in ((("T1", "C2"), BEN), (("T2", "C2"), ANN)):
            await log.channels.save(*place, by, labels_per_week=3)
        await delivered(log, "elsewhere", team_id="T2", requester_id=BEN)

    await with_log(database_url, fill)
    rows = await exported(database_url, tmp_path, f"T1/{ANN}")
    assert kinds(rows) == ["case", "case", "case", "audit", "audit"]
    for number, row in enumerate(rows[:3], 1):
        assert (row["id"], row["question"]) == (number, "Why?")
        assert [rating["raw"] for rating in row["ratings"]] == ["score: 4"]
        # Nothing lets the reader act for the app.
        assert not {"key", "lease_owner", "response_url"} & row.keys()
    assert [(row["who"], row["what"], row["user_id"]) for row in rows[3:]] == [
        (ANN, "labels_changed", None),
        (OPERATOR, "exported_person", ANN),
    ]
    assert {row["team_id"] for row in rows} == {"T1"}
    assert not any(words in str(rows) for words in ("I disagree.", "C2", "hooks.slack.com"))


async def test_a_wrong_id_or_one_of_two_workspaces_is_a_sentence_and_leaves_no_file_and_no_line(
    tmp_path: Path,
) -> None:
    async with await Store.open(url(tmp_path)) as log:
        for team in ("T1", "T2"):
            await delivered(log, team, team_id=team, requester_id=ANN)
        two = (
            "judge-bot: --user 'U0ANN': there is one in each of 2 workspaces; say which: "
            "--user T1/U0ANN, --user T2/U0ANN\n"
        )
        for user, said in ((BEN, NOTHING.format(BEN)), ("", NOTHING.format("")), (ANN, two)):
            options = ("--user", user, "-o", "all.jsonl")
            assert await command("export", url(tmp_path), tmp_path, *options) == (2, "", said)
        assert not (tmp_path / "all.jsonl").exists()
        assert await noted(log) == []
        rows = await exported(url(tmp_path), tmp_path, f"T2/{ANN}")
    assert kinds(rows) == ["case", "audit"]
    assert {row["team_id"] for row in rows} == {"T2"}


async def test_a_person_without_a_case_finds_everything_else_that_is_theirs(tmp_path: Path) -> None:
    now = datetime.now(UTC)

    async def fill(log: Store) -> None:
        await add(log, at=now)
        case = await log.cases.get(1)
        for number, user_id in enumerate((ANN, BEN), 1):
            await log.assignments.draw("T1", user_id, ["C1"])
            await log.thumbs.note(thumb(user_id=user_id), is_watched=True)
            await save_visibility(log, "T1", user_id, Visibility.ME)
            prompt = f"{user_id}'s. {TONE}"
            await keep_rubric(
                log, SavedRubric("T1", "C1", "tone", number, prompt, user_id, saved_at=now)
            )
            told = {"channel_id": "", "author_id": "", "name": "asked", "day": "2026-11-26"}
            told |= {"team_id": "T1", "recipient": user_id, "claimed_at": now}
            await log.database.execute(insert(notices).values(told))
            await log.labels.put(case, user_id, Label(2, None))
            await add_release(log, user_id, f"{user_id}'s note.")
            wish = {"team_id": "T1", "user_id": user_id, "at": now}
            await log.database.execute(insert(forgotten).values(wish))
        await log.database.execute(update(releases).values(taken_back_by=ANN))

    await with_log(url(tmp_path), fill)
    rows = await exported(url(tmp_path), tmp_path)
    of = {row["kind"]: row for row in rows}
    theirs = "audit,draw,forgotten,label,notice,release,release taken back,rubric,settings,thumb"
    assert ",".join(sorted(of)) == theirs
    assert of["rubric"]["prompt"] == f"{ANN}'s. {TONE}"
    assert of["release"]["note"] == f"{ANN}'s note."
    assert "note" not in of["release taken back"]
    assert BEN not in str(rows)
