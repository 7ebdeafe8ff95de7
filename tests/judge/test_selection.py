"""Whether labelled replies were drawn, by how they score beside the others."""

import pytest

from judge.evaluation.selection import Candidate, chance_of_draw


def test_labels_are_compared_with_all_replies_of_their_stratum() -> None:
    # Of ten scores, five 2 and five 4, the five 2 have labels: 5 less than by chance. The variance
    # is 5 * (1 - 5 / 10) * 10 / 9, and 5 / 1.667 = 3.0 standard errors are exceeded in 0.27%.
    chosen = [Candidate(2, True)] * 5 + [Candidate(4, False)] * 5
    assert chance_of_draw(chosen) == pytest.approx(0.0027, abs=1e-4)
    # As two strata, in which all or none have labels, they say nothing.
    apart = [reply._replace(stratum=reply.value) for reply in chosen]
    assert chance_of_draw(apart) == 1.0


def test_a_thread_that_was_labelled_as_a_whole_is_one_choice() -> None:
    thread = [Candidate(2, True, cluster="one")] * 5 + [Candidate(4, False)] * 5
    # Now the variance is 0.5 * (5 * -1)**2 = 12.5, and 5 / 3.54 = 1.41 are exceeded in 16%.
    assert chance_of_draw(thread) == pytest.approx(0.157, abs=1e-3)
