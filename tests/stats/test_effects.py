"""Effect sizes are those of units, where a metric says anything of a unit."""

from __future__ import annotations

import numpy as np

import karat


def test_no_effect_where_a_unit_alone_carries_no_information() -> None:
    rng = np.random.default_rng(0)
    gold = rng.choice(list("ABC"), 200)
    systems = {name: np.where(rng.random(200) < share, gold, "A") for name, share in (("x", 0.9), ("y", 0.5))}
    found = {pair.label: pair for pair in karat.compare(gold, systems, metrics=["accuracy", "icm"]).pairs}
    agree = {name: (said == gold) for name, said in systems.items()}
    effect = found["Accuracy"].effect
    assert effect is not None
    assert effect.win == (agree["x"] & ~agree["y"]).sum()
    assert effect.loss == (agree["y"] & ~agree["x"]).sum()
    assert found["ICM"].difference != 0
    assert found["ICM"].effect is None
