"""What a new case takes over from the one that it repeats."""

import pytest

from bot.domain.case import Visibility
from bot.slack.invocation import Invocation
from bot.store import Store
from tests.cases import ANN, delivered, save_visibility
from tests.services import services_of
from tests.tables import each

pytestmark = pytest.mark.on("sqlite")


@each(
    ("earlier", "own", "new"),
    [
        (Visibility.ME, Visibility.THREAD, Visibility.ME),
        (Visibility.THREAD, Visibility.ME, Visibility.ME),
        (Visibility.THREAD, None, Visibility.THREAD),
    ],
)
async def test_a_new_score_is_private_if_the_earlier_one_was_or_its_requester_has_chosen_so(
    log: Store, earlier: Visibility, own: Visibility | None, new: Visibility
) -> None:
    case = await delivered(log, str((earlier, own)), requester_id=ANN, visibility=earlier)
    await save_visibility(log, "T1", ANN, own)
    ann = Invocation("T1", "C1", ANN, "ann", is_foreign=False)
    again = await services_of(log).requests.again(ann, case)
    assert again.visibility is new
