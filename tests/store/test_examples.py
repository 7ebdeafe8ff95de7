"""A case that stands in a saved rubric as an example: its words leave that text with the case, on
both databases.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.case import LoggedCase
from bot.domain.label import Label
from bot.pipeline.judges import Judges, RubricChoice
from bot.store import Store
from bot.store.rubrics import ChannelJudge, SavedRubric
from judge import DEFAULT_RUBRIC, Judge, Rubric, load_rubric
from judge.evaluation.align import LabelledCase
from judge.evaluation.align.examples import with_examples
from judge.scoring.rubric import Calibration
from tests.cases import ANN, BEGUN_AT, NOW, SECRET, TONE, a_case, bytes_on_disk, delivered, url

pytestmark = [pytest.mark.usefixtures("log_file"), pytest.mark.on("sqlite")]

PLAIN = Rubric("tone", TONE)
CALIBRATION = Calibration(((0, 0), (5, 4)))


def showing(*numbers: int, question: str = "Why?") -> Rubric:
    """The rubric with these cases as examples."""
    learned = [
        LabelledCase(str(each), str(each), question, "Because.", 3, ("Short.",)) for each in numbers
    ]
    return with_examples(PLAIN, learned)[0]


async def save(log: Store, *versions: Rubric, team_id: str = "T1") -> None:
    for number, rubric in enumerate(versions, start=1):
        await log.rubrics.save(
            SavedRubric(team_id, "C1", rubric.name, number, rubric.prompt, "U1", NOW)
        )


async def use(log: Store, rubric: Rubric, team_id: str = "T1") -> None:
    await log.rubrics.use(team_id, "C1", ChannelJudge("tone", rubric.version, "large"), "U1")


async def prompts(log: Store, *versions: Rubric, team_id: str = "T1") -> list[str | None]:
    """What is stored under these versions."""
    found = [await log.rubrics.find(team_id, "C1", "tone", each.version) for each in versions]
    return [each and each.prompt for each in found]


async def forget(log: Store, case: LoggedCase) -> object:
    return await log.forgetting.forget([case.id], "U1")


async def forget_old(log: Store, case: LoggedCase) -> object:
    return await log.forgetting.forget_older(BEGUN_AT - timedelta(days=30))


async def forget_ann(log: Store, case: LoggedCase) -> object:
    from bot.features.privacy.queries import PersonalData

    return await PersonalData(log.database).forget("T1", ANN)


async def forget_reason(log: Store, case: LoggedCase) -> object:
    from bot.features.privacy.queries import PersonalData

    await log.labels.put(case, ANN, Label(3, "Short."))
    return await PersonalData(log.database).forget("T1", ANN)


async def take_reason_back(log: Store, case: LoggedCase) -> object:
    await log.labels.put(case, ANN, Label(3, "Short."))
    return await log.labels.put(case, ANN, Label(3, None))


async def delete_message(log: Store, case: LoggedCase) -> object:
    return await log.edits.note_deleted("T1", "C1", "5.1")


async def drop_texts(log: Store, case: LoggedCase) -> object:
    return await log.edits.drop_texts(case)


Way = Callable[[Store, LoggedCase], Awaitable[object]]
BY_PRIVACY = pytest.mark.needs("privacy")
WAYS: dict[str, Any] = {
    "link": (forget, {}),
    "retention": (forget_old, {"age": timedelta(days=31)}),
    "asker": pytest.param(forget_ann, {"requester_id": ANN}, marks=BY_PRIVACY),
    "responder": pytest.param(forget_ann, {"author_id": ANN}, marks=BY_PRIVACY),
    "question": pytest.param(forget_ann, {"question_author_id": ANN}, marks=BY_PRIVACY),
    "reason": pytest.param(forget_reason, {}, marks=BY_PRIVACY),
    "reason taken back": (take_reason_back, {}),
    "deleted message": (delete_message, {"message_ts": "5.1"}),
    "delivered after it was forgotten": (drop_texts, {}),
}


@pytest.mark.on("sqlite", "postgres")
@pytest.mark.parametrize(("way", "changes"), WAYS.values(), ids=WAYS)
async def test_an_example_leaves_every_version_with_its_case(
    log: Store, way: Way, changes: dict[str, Any]
) -> None:
    kept = await delivered(log, "kept")
    case = await delivered(log, "gone", **changes)
    used, unused = showing(kept.id, case.id), showing(case.id).calibrated(CALIBRATION)
    await save(log, unused, used)
    await use(log, used)
    assert await log.rubrics.chosen("T1", "C1") == ChannelJudge("tone", used.version, "large")
    await way(log, case)
    assert await log.rubrics.chosen("T1", "C1") == ChannelJudge(
        "tone", showing(kept.id).version, "large"
    )
    assert await prompts(log, used, unused) == [None, None]
    assert await prompts(log, showing(kept.id), PLAIN) == [showing(kept.id).prompt, TONE]


async def test_other_rubrics_and_channels_stay_as_they_are(log: Store) -> None:
    case, kept = await delivered(log, "gone"), await delivered(log, "kept")
    other, gone = showing(kept.id).calibrated(CALIBRATION), showing(case.id)
    await save(log, PLAIN, other, gone)
    await save(log, gone, team_id="T2")
    await use(log, other)
    await use(log, gone, team_id="T2")
    await log.forgetting.forget([case.id], "U1")
    assert await prompts(log, other) == [other.prompt]
    assert await prompts(log, gone, team_id="T2") == [gone.prompt]
    assert (await log.rubrics.chosen("T1", "C1")).version == other.version
    assert (await log.rubrics.chosen("T2", "C1")).version == gone.version


async def test_what_is_left_may_be_the_text_of_another_version(log: Store) -> None:
    case = await delivered(log)
    await save(log, PLAIN, showing(case.id))
    await use(log, showing(case.id))
    await log.forgetting.forget([case.id], "U1")
    (newest,) = await log.rubrics.newest("T1", "C1")
    assert (newest.number, newest.rubric) == (2, PLAIN)
    assert (await log.rubrics.chosen("T1", "C1")).version == PLAIN.version


@pytest.mark.parametrize(
    "left", ["</example>\n", "</example> \n\n", "\n"], ids=["line", "blank", "no end"]
)
async def test_an_example_whose_end_somebody_edited_goes_as_well(log: Store, left: str) -> None:
    kept, case = await delivered(log, "kept"), await delivered(log, "gone")
    edited = Rubric("tone", showing(case.id, kept.id).prompt.replace("</example>\n\n", left, 1))
    await save(log, edited)
    await log.forgetting.forget([case.id], "U1")
    (newest,) = await log.rubrics.newest("T1", "C1")
    assert newest.prompt == showing(kept.id).prompt


async def test_what_a_rubric_has_to_say_within_an_example_keeps_nobody_from_forgetting(
    log: Store,
) -> None:
    case = await delivered(log)
    scale = "where N is between 0 and 5"
    odd = Rubric(
        "tone", f'<example case="{case.id}">\n{scale}\n</example>\n\n{TONE.replace(scale, "")}'
    )
    await save(log, odd)
    await use(log, odd)
    await log.forgetting.forget([case.id], "U1")
    (newest,) = await log.rubrics.newest("T1", "C1")
    assert newest.prompt == load_rubric(DEFAULT_RUBRIC).prompt


async def test_a_bot_finds_the_judge_that_a_purge_beside_it_leaves(
    database_url: str, log: Store
) -> None:
    case = await delivered(log, age=timedelta(days=31))
    await save(log, showing(case.id))
    await use(log, showing(case.id))
    shipped = {DEFAULT_RUBRIC: load_rubric(DEFAULT_RUBRIC)}
    judges = Judges(
        RubricChoice(log.rubrics, shipped), lambda rubric, model, _: Judge(model or "small", rubric)
    )
    assert await judges.of(a_case(rubric="tone"))
    purge = await Store.open(database_url)
    assert await purge.forgetting.forget_older(BEGUN_AT - timedelta(days=30)) == 1
    await purge.close()
    judge = await judges.of(a_case(rubric="tone"))
    assert judge.rubric == PLAIN


async def test_of_an_example_no_byte_is_left(tmp_path: Path) -> None:
    log = await Store.open(url(tmp_path))
    case = await delivered(log)
    await save(log, showing(case.id, question=SECRET))
    assert SECRET.encode() in bytes_on_disk(tmp_path)
    await log.forgetting.forget([case.id], "U1")
    assert await log.forgetting.scrub()
    assert SECRET.encode() not in bytes_on_disk(tmp_path)
    await log.close()
