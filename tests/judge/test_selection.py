"""Whether labelled replies were drawn, by how they score beside the others."""

import random

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


def test_drawn_labels_are_called_chosen_as_rarely_as_is_said() -> None:
    generator = random.Random(5)
    chances = []
    for _ in range(400):
        replies = [Candidate(generator.choice((2, 4, 4, 5)), False) for _ in range(100)]
        for at in generator.sample(range(100), 20):
            replies[at] = replies[at]._replace(has_label=True)
        chances.append(chance_of_draw(replies))
    # 5% of 400 are 20, with a standard deviation of 4.4.
    assert 7 <= sum(each < 0.05 for each in chances) <= 33
