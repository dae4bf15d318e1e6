"""The laws on raw votes of ordered labels: metrics of annotators and orders have nothing to say on plain weights."""

import random

import numpy as np
import pytest

from karat.contexts import catalogue
from tests.laws.laws import LAWS, SEEDS, Case, Subject, exempt, value, variants
from tests.laws.samples import Maker

SCALE = ("1", "2", "4", "7")
WHOSE = ("ann1", "ann2", "ann3", "ann4")


def votes(rng: random.Random) -> dict[str, str]:
    return {who: rng.choice(SCALE) for who in WHOSE if rng.random() < 0.8} or votes(rng)


def answers(rng: random.Random, gold: dict[str, str]) -> dict[str, str]:
    """Mostly right, sometimes silent about an annotator, sometimes an answer for one who did not vote."""
    kept = {who: label if rng.random() < 0.6 else rng.choice(SCALE) for who, label in gold.items()}
    return {who: label for who, label in kept.items() if rng.random() < 0.9} | {"ann5": rng.choice(SCALE)}


class VotesCase(Case):
    def __init__(self, seed: int) -> None:
        self.name, self.made, self.rng = "soft", Maker(votes, answers), random.Random(seed)
        self.sample = self.made.sample(seed)


CASES = [VotesCase(seed) for seed in SEEDS]
NEEDY = (
    "wasserstein", "percent_agreement", "fleiss_kappa", "krippendorff_alpha", "pairwise_kappa",
    "perspectivist_accuracy", "perspectivist_error", "perspectivist_distance",
)  # fmt: skip
SUBJECTS = [s for name in NEEDY for s in variants("soft", catalogue("soft")[name])]


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: str(s.metric))
@pytest.mark.parametrize("law", LAWS)
def test_laws(subject: Subject, law: str) -> None:
    for case in CASES:
        assert not np.isnan(value(subject, case.whole)).any()
        exempt(subject, law) or LAWS[law](subject, case)
