# SPDX-License-Identifier: Apache-2.0
"""What both sides must agree in before they meet: how truth is spelt, what parts the labels of a cell, in what spans count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from karat.contexts.labels import nearest
from karat.findings import Finding, InputError, finding
from karat.read.names import INDEX, NAMES, QUERIES, TEXTS
from karat.read.roles import SEPARATORS, as_indicators, split_labels
from karat.side import Side

MOST = 10_000
"""Labels that are looked at for signs of several in a cell."""


def agree(gold: Side, systems: Sequence[Side], context: str | None = None) -> tuple[Side, list[Side]]:
    """Both sides as they can be compared; what cannot be is an error that says why."""
    gold, preds = _with_lists(gold, systems)
    gold, preds = _with_columns(gold, preds)
    bad: list[Finding] = []
    for side in preds:
        _spell_truth(gold, side)
        bad += _units(gold, side)
    if bad:
        raise InputError(bad)
    if context is None:
        gold.findings += _several_in_cell(gold, preds)
    return gold, preds


def _spell_truth(gold: Side, side: Side) -> None:
    """True and false beside 1 and 0, or beside TRUE and False, are the same two labels: predictions are spelt as in gold.

    In single labels, sets, weights and spans alike; only the columns of a matrix are numbers that are no truth.
    """
    mine, theirs = ({*given.names.get("label", ())} for given in (gold, side))
    if "columns" in gold.facts or "columns" in side.facts:
        return
    if _words(mine) and (_bits(theirs) or _words(theirs)):
        spelt = {name.lower(): name for name in (_like(next(iter(mine)), word) for word in ("true", "false"))}
        spelt |= {name.lower(): name for name in mine}
        spelling = {name: spelt.get(BITS.get(name, name.lower()), name) for name in theirs}
    elif _words(theirs) and _bits(mine):
        spelling = {name: bit for name in theirs for bit, word in BITS.items() if word == name.lower()}
    else:
        return
    side.names["label"] = [spelling[name] for name in side.names["label"]]


BITS = {"1": "true", "0": "false"}
"""Numbers as labels, and the words for them."""


def _bits(names: set[str]) -> bool:
    """Are 1 or 0 among the labels, and no word for them?"""
    return bool(names & BITS.keys()) and not any(name.lower() in BITS.values() for name in names)


def _words(names: set[str]) -> bool:
    """Are the labels nothing but true or false?"""
    return 0 < len(names) < 3 and len(names) == len({name.lower() for name in names} & {"true", "false"})


def _like(name: str, word: str) -> str:
    """The word in capitals as the name is: True, TRUE, true."""
    return word.upper() if name.isupper() else word.capitalize() if name[:1].isupper() else word


def suspicions(gold: Side, pred: Side) -> tuple[Finding | None, Finding | None]:
    """What to say if the system is perfect, and in place of its labels that gold lacks."""
    return suspect(gold, pred), _without_common_labels(gold, pred)


def suspect(gold: Side, pred: Side) -> Finding | None:
    """What to say if a system is perfect: its column may be gold's own, kept beside one that is not read."""
    column, others = pred.facts.get("value"), [n for n in pred.facts.get("unread", ()) if n.lower() not in TEXTS]
    others += [n for n in gold.facts.get("unread", ()) if n.strip().lower() in NAMES["value"] and n not in others]
    if not others or column is None or str(column).lower() != str(gold.facts.get("value")).lower():
        return None
    shown = ", ".join(others[:10])
    return finding("equal-to-gold", pred.name, column=column, others=shown, count=len(others))


def by_position(gold: Side, pred: Side, files: bool) -> list[Finding]:
    """What to say where rows are paired as they stand: of texts in another order and, in two ``files``, of columns not read."""
    return _other_texts(gold, pred) + (_other_columns(gold, pred) if files else [])


def _other_columns(gold: Side, pred: Side) -> list[Finding]:
    """The first column that is not read may tell the rows apart."""
    mine, theirs = (
        next((n for n in side.facts.get("unread", ()) if n.lower() not in TEXTS), None) for side in (gold, pred)
    )
    if mine is None or mine != theirs or not (_by_rows(gold) and _by_rows(pred)):
        return []
    return [finding("paired-by-position", pred.name, column=mine)]


def _other_texts(gold: Side, pred: Side) -> list[Finding]:
    """Texts may show that the rows stand in another order."""
    if not (gold.keys.by_position and pred.keys.by_position) or {gold.kind, pred.kind} & {"spans", "pages"}:
        return []
    mine, theirs = gold.units.get("text") or (), pred.units.get("text") or ()
    if len(mine) != len(theirs):
        return []
    rows = [i for i, (one, other) in enumerate(zip(mine, theirs, strict=True)) if one != other]
    return [finding("rows-differ", pred.name, count=len(rows), first=rows[0] + 1)] if rows else []


def _by_rows(side: Side) -> bool:
    """Does nothing tell the rows apart but their place, or the number that pandas gave them?"""
    return side.keys.by_position or str(side.facts.get("id")).lower() in INDEX


def case_of_query(gold: Side) -> list[Finding]:
    """What to say where scores are means over a column whose name only rankings take for that of test cases."""
    column = gold.facts.get("test_case")
    if column is None or column.strip().lower() not in QUERIES:
        return []
    return [finding("test-case-found", gold.name, column=column, count=len({*gold.keys.case.used()}))]


def _without_common_labels(gold: Side, pred: Side) -> Finding | None:
    """One finding in place of many where a system uses no label that gold has."""
    if not {gold.kind, pred.kind} <= {"label", "labels"}:
        return None
    mine, theirs = gold.names.get("label", ()), pred.names.get("label", ())
    if not mine or not theirs or {*mine} & {*theirs}:
        return None
    near = {name: nearest(name, mine) for name in theirs[:5]}
    alike = next(((name, gold) for name, gold in near.items() if gold), None)
    way_out = f"spell {alike[0]!r} as gold spells {alike[1]!r}" if alike else "check that both files are of the same task and that labels are spelt alike; if they name clusters, say --context clustering"  # fmt: skip
    shown = [", ".join(map(repr, sorted(names)[:3])) for names in (mine, theirs)]
    return finding("no-common-labels", pred.name, gold=shown[0], pred=shown[1], suggestion=way_out)


# ---- several labels in a cell


def _with_lists(gold: Side, systems: Sequence[Side]) -> tuple[Side, list[Side]]:
    """Where one side has lists of labels and the other texts that part into the same labels, texts are lists too."""
    listed = [side for side in (gold, *systems) if side.kind == "labels"]
    if not listed:
        return gold, list(systems)
    known = {name for side in listed for name in side.names["label"]}
    first, *rest = (_as_lists(side, known) for side in (gold, *systems))
    return first, rest


def _as_lists(side: Side, known: set[str]) -> Side:
    if side.kind != "label":
        return side
    for mark in SEPARATORS:
        names = [name for name in side.names["label"] if mark in name]
        if names and {part.strip() for name in names for part in name.split(mark)} <= known:
            side.findings.append(finding("separator-found", side.name, mark=mark, label=names[0]))
            return split_labels(side, mark)
    return side


def _several_in_cell(gold: Side, systems: Iterable[Side]) -> list[Finding]:
    """A warning for single labels that look like several in a cell."""
    sides = [gold, *systems]
    if any(side.kind != "label" or "label" not in side.names for side in sides):
        return []
    names = list(dict.fromkeys(name for side in sides for name in side.names["label"][:MOST]))
    for mark in SEPARATORS:
        parts = {name: {part.strip() for part in name.split(mark)} for name in names if mark in name}
        if parts and _look_like_sets(parts, {*names}):
            return [finding("several-labels", gold.name, label=next(iter(parts)), mark=mark)]
    return []


def _look_like_sets(parts: dict[str, set[str]], names: set[str]) -> bool:
    """Are two of the labels the same in another order, or is each part a label by itself or part of another one?

    Half of the parts are enough where one of them is a label by itself.
    """
    whole = {frozenset(p) for p in parts.values()}
    if any("" in p for p in parts.values()):
        return False
    uses: dict[str, int] = {}
    for p in parts.values():
        for part in p:
            uses[part] = uses.get(part, 0) + 1
    again = sum(part in names or n > 1 for part, n in uses.items())
    enough = len(uses) / 2 if uses.keys() & names else len(uses)
    return len(whole) < len(parts) or again >= enough


def _with_columns(gold: Side, systems: Sequence[Side]) -> tuple[Side, list[Side]]:
    """Rows of zeros and ones as wide as an array of them, or of one width on every side, are a matrix as the array is.

    A list that has a label twice is no set of labels.
    """
    sides = [gold, *systems]
    width, *widths = [side.facts.get("columns") or side.facts.get("width", 0) for side in sides]
    unlike = [(side, wide) for side, wide in zip(systems, widths, strict=True) if width and wide not in (0, width)]
    if unlike:
        raise InputError([finding("indicator-widths", side.name, gold=width, pred=wide) for side, wide in unlike])
    arrays = [side for side in sides if "columns" in side.facts]
    if not width or (0 in widths and gold not in arrays) or len(arrays) == len(sides):
        return gold, list(systems)
    if width == 2 and not arrays and not any(_repeats(side) for side in sides):
        raise InputError([finding("indicator-rows-unclear", side.name) for side in sides])
    listed = [side for side in sides if side.facts.get("width") and side not in arrays]
    for side in listed[:1]:
        side.findings.append(finding("indicator-rows", side.name, width=width))
    first, *rest = (as_indicators(side, width) if side in listed else side for side in sides)
    return first, rest


def _repeats(side: Side) -> bool:
    """Has a row of two the same label twice?"""
    label = side.entries["label"].reshape(-1, 2)
    return bool((label[:, 0] == label[:, 1]).any())


# ---- units of spans


def _units(gold: Side, pred: Side) -> list[Finding]:
    """Tags count tokens, spans of a text characters: where one side has either, they do not meet."""
    if gold.kind != "spans" or pred.kind != "spans" or ("tag" in gold.names) == ("tag" in pred.names):
        return []
    tagged, spans = (gold, pred) if "tag" in gold.names else (pred, gold)
    texts = spans.units.get("text") or ()
    letters = any(isinstance(text, str) for text in texts)
    beyond = int(spans.entries["end"].max(initial=0)) > int(np.max(tagged.units["length"], initial=0))
    if not letters and not beyond:
        return []
    return [
        finding(
            "units-differ",
            pred.name,
            tokens=tagged.role.replace("pred", "the prediction"),
            letters=spans.role.replace("pred", "the prediction"),
        )
    ]


# ---- numbers where labels are wanted


_FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]\d*(e[+-]?\d+)?|[+-]?\d+(\.\d+)?e-\d+", re.I)


def check_labels(gold: Side, systems: Iterable[Side]) -> list[Finding]:
    """An error for scores or measurements that would be compared as labels: most are fractions that gold does not have."""
    out: list[Finding] = []
    if gold.kind not in ("label", "number") or "label" not in gold.names:
        return out
    known = {*gold.names["label"]}
    for side in (gold, *systems):
        if side.kind not in ("label", "number") or "label" not in side.names:
            continue
        names = side.names["label"]
        odd = [
            code
            for code, name in enumerate(names)
            if ("." in name or "-" in name) and _FRACTION.fullmatch(name) and (side is gold or name not in known)
        ]
        if len(odd) < 2:
            continue
        given = replace(side, entries=side.entries.at(np.flatnonzero(side.entries["label"] >= 0)))
        count = given.uses()
        share, total = int(count[odd].sum()), int(count.sum())
        if side is gold and (
            len(odd) < 10 or len(odd) * 2 <= total
        ):  # few values, each often: grades such as 0.5, 1, 1.5
            continue
        if share * 2 > total:
            out.append(
                finding(
                    "scores-as-labels",
                    side.name,
                    role="gold values" if side is gold else "predicted values",
                    example=names[odd[0]],
                    count=len(names),
                    total=total,
                )
            )
    return out
