"""What a judge's agreement with people comes to, in one sentence."""

from math import isnan

from judge.agreement.jackknife import difference
from judge.agreement.measures import MIN_PROMPTS, Estimate, estimate, kappa_among_people, kappa_with_each
from judge.agreement.sample import Sample

# Half of what parts one word below from the next.
_MARGIN = 0.1

_WORDS = (
    (0.80, "almost perfect"),
    (0.60, "substantial"),
    (0.40, "moderate"),
    (0.20, "fair"),
    (-0.01, "slight"),
)


def beside_people(sample: Sample) -> Estimate | None:
    """The kappa of the judge with one person, less that of one person with another, over the same responses.

    None where no response has several labels.
    """
    if sample.labels.shape[1] < 2:
        return None
    return estimate(difference(kappa_with_each(sample), kappa_among_people(sample)))


def verdict(kappa: Estimate, beside: Estimate | None) -> str:
    """How well the judge agrees with people: beside what people reach among themselves, where that is known.

    "About as well" is said only where the interval rules out that the judge is behind by 0.1 or more; one that is wide
    for want of labels says nothing. Else kappa is put into words.

    Args:
        kappa: Of score and label.
        beside: As `beside_people` gives it.
    """
    if beside is None or isnan(beside.low):
        return _in_words(kappa)
    figures = f"(kappa {beside.value:+.2f}, between {beside.low:+.2f} and {beside.high:+.2f}; {beside.n:,} responses)"
    if beside.low > 0:
        return f"Agrees with people better than people do with each other {figures}."
    if beside.low > -_MARGIN:
        return f"Agrees with people about as well as people do with each other {figures}."
    if beside.high < 0:
        return f"Agrees with people less well than people do with each other {figures}."
    return f"Too few labels to say if it agrees with people as well as people do with each other {figures}."


def _word(kappa: float) -> str:
    """What Landis and Koch (1977, Biometrics 33(1)) call a kappa; they say themselves that this is arbitrary."""
    return next((each for above, each in _WORDS if round(kappa, 2) > above), "poor")


def _in_words(kappa: Estimate) -> str:
    if isnan(kappa.value):
        return f"No verdict on the agreement with people: {kappa.note}."
    if isnan(kappa.low):
        few = kappa.prompts < MIN_PROMPTS
        why = f"{kappa.prompts} of the {MIN_PROMPTS} prompts that it takes" if few else kappa.note
        return f"No verdict on the agreement with people: {why}."
    words = " to ".join(dict.fromkeys((_word(kappa.low), _word(kappa.high))))
    return (
        f"Agreement with people is {words} (kappa between {kappa.low:.2f} and {kappa.high:.2f}), "
        "in the words of Landis and Koch (1977), a convention."
    )
