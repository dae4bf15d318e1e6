# SPDX-License-Identifier: Apache-2.0
"""Tables that are counted where they are or batch by batch, since their rows need not or cannot be held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from karat.agree import suspect
from karat.counting import CountedSides, Meet, counted_sides, doubted, gathered, system_result
from karat.engines.duckdb import Engine
from karat.findings import InputError
from karat.plan import make_plan
from karat.provenance import input_record
from karat.read import Waiting
from karat.request import Asked

MERGED = ("monolabel", "multilabel", "soft", "clustering", "probabilities", "numbers")
"""Contexts in which equal units may be one that stands for many."""


def counted_larger(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides | None:
    """What can be counted in place or in batches; None where the rows have to be read as a whole."""
    return counted_in_place(engine, sides, asked, meet) or counted_in_batches(engine, sides, asked, meet)


def counted_in_place(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides | None:
    """The same of large tables of labels without their rows; None where the rows have to be looked at."""
    if not all(isinstance(side, Waiting) for side in sides) or asked.hashes or asked.options.get("faulty") == "drop":
        return None
    if _apart(asked):
        return None
    from karat.in_place import ON, NotInPlace, summary

    try:
        return (
            counted_sides(engine, [summary(engine, side) for side in sides], asked, meet, False, False) if ON else None
        )
    except (NotInPlace, InputError):  # read row by row, what is wrong gets its line
        return None


def counted_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides | None:
    """The same of files larger than memory, batch by batch; None where they fit, or have to be looked at as a whole."""
    from karat import batches

    if not batches.ON or not any(batches.is_large(engine, side) for side in sides):
        return None
    if asked.hashes or asked.options.get("faulty") == "drop":
        return None
    for way in (ranked_in_batches, documents_in_batches, pages_in_batches, merged_in_batches):
        try:
            parts = [way(engine, (sides[0], pred), asked, meet) for pred in sides[1:]]
        except batches.NotInBatches:
            continue
        inputs = [parts[0].inputs[0], *(part.inputs[1] for part in parts)]
        return parts[0]._replace(results=[part.results[0] for part in parts], inputs=inputs)
    return None


def ranked_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides:
    """A run and judgements in batches of whole queries."""
    from karat import batches

    if asked.context not in (None, "ranking") or not batches.are_rankings(sides):
        raise batches.NotInBatches
    plan = make_plan("ranking", asked.metrics, asked.options, asked.undefined, asked.seed)
    count, (gold, pred) = batches.ranked(engine, sides[0], sides[1], plan.options)
    result = doubted(system_result(plan, gold, pred, count, pred.origin.system), plan, suspect(gold, pred), None)
    return CountedSides(plan, [result], None, [input_record(side, False) for side in (gold, pred)], None, gold)


def documents_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides:
    """Documents with spans, of whose texts nothing stays but what tells them apart."""
    from karat import batches

    if asked.context not in (None, "spans") or not batches.are_documents(sides):
        raise batches.NotInBatches
    options = make_plan("spans", asked.metrics, asked.options).options
    slim = gathered([partial(batches.without_texts, engine, side, options) for side in sides])
    return counted_sides(engine, slim, replace(asked, hashes=False), meet, False, False)


def pages_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides:
    """Page streams in batches of whole bundles, of whose pages the numbers stay."""
    from karat import batches

    if asked.context not in (None, "splitting") or not batches.may_be_pages(sides):
        raise batches.NotInBatches
    slim = [batches.bundles(engine, side) for side in sides]
    return counted_sides(engine, slim, replace(asked, hashes=False), meet, False, False)


def merged_in_batches(engine: Engine, sides: Sequence[Any], asked: Asked, meet: Meet) -> CountedSides:
    """Labels, label sets, weights and numbers, whose equal units are one; what would need a line is looked at in the whole."""
    from karat import batches

    if asked.context not in (None, *MERGED) or _apart(asked):
        raise batches.NotInBatches
    gold, pred = batches.distinct_outcomes(engine, sides[0], sides[1])
    try:
        counted = counted_sides(engine, (gold, pred), replace(asked, hashes=False), meet, False, False)
    except InputError as error:
        raise batches.NotInBatches from error
    lined = any(f.line is not None for f in counted.results[0].findings)
    if lined or counted.plan.context.name not in MERGED:
        raise batches.NotInBatches
    return counted


def _apart(asked: Asked) -> bool:
    """May items be in clusters of their own? Such an item is equal to no other, so that none can stand for many."""
    return asked.options.get("noise") is not None or asked.options.get("missing") == "singletons"
