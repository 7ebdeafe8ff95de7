"""Who gets another attempt at a reply that was scored, by any of its messages, and whether it
counts.
"""

from bot.domain.attempt import is_of_use
from bot.domain.case import Exclusion, Visibility
from tests import cases
from tests.pipeline.test_verdict_text import a_case


def test_a_case_is_of_use_to_its_requester_and_to_others_if_they_see_it_and_theirs_is_no_better() -> (
    None
):
    known = a_case(requester_id="U1")
    of_other = cases.a_case(requester_id="U2")
    beside = {"excluded": Exclusion.ANOTHER}
    for changes, case, is_it in (
        ({}, of_other, True),
        ({"visibility": Visibility.ME}, of_other, False),
        ({"visibility": Visibility.ME}, cases.a_case(requester_id="U1"), True),
        ({"blocked_by": "restricted_action"}, of_other, False),
        (beside, of_other, False),
        (beside, of_other.model_copy(update=beside), True),
    ):
        assert (changes, is_of_use(known.model_copy(update=changes), case)) == (changes, is_it)
