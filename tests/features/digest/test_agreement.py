"""How far the judge agrees with people, where replies were drawn with unequal probabilities."""

from datetime import timedelta

import pytest
from sqlalchemy import insert

from bot.figures.quality import to_agreement
from bot.store import Store
from bot.store.figures import BEGINNING, Kind, Place, Span
from bot.store.schema import cases, contradicted, labels
from bot.store.visibility import Origin
from tests.cases import NOW, a_row


async def test_a_contested_reply_which_is_drawn_more_often_counts_for_less(log: Store) -> None:
    for case_id in range(1, 41):
        row = a_row(id=case_id, key=str(case_id), score=4, judged_at=NOW, probability=1.0)
        await log.database.execute(insert(cases).values(row | {"created_at": NOW}))
        label = {"team_id": "T1", "case_id": case_id, "user_id": "U1", "channel_id": "C1"}
        when = {"created_at": NOW, "updated_at": NOW, "is_blind": True}
        score = 4 if case_id <= 20 else 1
        await log.database.execute(insert(labels).values(label | when | {"score": score}))
        if score == 1:
            its = {"team_id": "T1", "case_id": case_id}
            await log.database.execute(insert(contradicted).values(its))
    span = Span(BEGINNING, NOW + timedelta(days=1))
    place = Place("T1", "C1", origin=Origin.WATCHED)
    found = to_agreement(await log.tallies.labelled(place, span, Kind(0, 5, None)))
    # 20 / (20 + 20 / 4), as of (20 + 5)^2 / (20 + 20 / 16) = 29.4 labels of equal weight: t(28)^2 =
    # 4.196, over 28.4 = .1477. (.8 + .0739 -+ .1706) / 1.1477
    assert found.n == 40
    assert found.within_one == pytest.approx((0.8, 0.613, 0.910), abs=1e-3)
