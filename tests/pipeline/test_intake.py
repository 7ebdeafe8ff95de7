"""What a new case takes over from the one that it repeats."""

import pytest

from bot.domain.case import Visibility
from bot.slack.invocation import Invocation
from bot.store import Store
from tests.cases import ANN, delivered, save_visibility
from tests.services import services_of

pytestmark = pytest.mark.on("sqlite")


async def test_a_new_score_of_a_private_verdict_is_private_whatever_its_requester_has_chosen(
    log: Store,
) -> None:
    earlier = await delivered(log, message_ts="5.1", requester_id=ANN, visibility=Visibility.ME)
    await save_visibility(log, "T1", ANN, Visibility.THREAD)
    ann = Invocation("T1", "C1", ANN, "ann", is_foreign=False)
    again = await services_of(log).requests.again(ann, earlier)
    assert again.visibility is Visibility.ME
