# SPDX-License-Identifier: Apache-2.0
"""The LUIS model evaluation's interface: intents (classes) and nested entities of a batch of utterances.

    from karat.doors.luis import evaluate_model

By default precision is over what was predicted, recall over what was labelled, and every entity earns credit
once; ``compat="luis"`` gives the old package's numbers, bit for bit: both names exchanged, pairs counted.
"""

from __future__ import annotations

import dataclasses
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from karat.contexts.spans.nested import LuisCounts, Tree, align, flatten, preorder, text_and_type
from karat.doors.kit.differences import Difference
from karat.findings import Finding, finding, limited

NOT_FOUND = "Model Not Found In Given App Models"

DIFFERENCES = [
    Difference("precision and recall of entities", "exchanged: precision is over labels", "precision over predictions, recall over labels"),
    Difference("several predictions on one label, or the reverse", "every pair earns credit, so scores pass 1", "one to one: equal places first, then the greatest overlap"),
    Difference("children", "matched under every parent of the name", "only inside their aligned parents"),
    Difference("false positives and negatives", "entries are lost or listed twice", "every entity without a partner, once"),
    Difference("spans that touch", "overlap", "as `end` says: the last position belongs to the entity, or not"),
    Difference("offsets that end before they start, or start before the text", "counted as they come", "a warning with the example and the entity (`response.findings`, stderr); without a character it matches nothing"),
    Difference("the place of an entity of another type (`text_requires_type=False`)", "", "earns its half on both sides, each counted by its own type"),
]  # fmt: skip


class InvalidInputException(ValueError):
    """A field that must be there is null or empty."""


class ArgumentNullException(ValueError):
    """A class or entity without a name."""


class NullReferenceException(ValueError):
    """An entity that is null."""


@dataclass
class Entity:
    """A labelled or predicted span; its children are entities inside it."""

    Name: str
    StartPosition: int
    EndPosition: int
    Children: list[Entity] | None = None


@dataclass
class PredictionObject:
    """One side of an example."""

    Classification: list[str]
    Entities: list[Entity]


@dataclass
class TestingExample:
    """An utterance with its labels and its predictions."""

    __test__ = False  # a name that pytest would otherwise collect

    Text: str | None
    LabeledData: PredictionObject
    PredictedData: PredictionObject


@dataclass
class Model:
    """A class or an entity of the app."""

    Name: str
    Type: str


@dataclass
class ModelStats:
    """Scores of one class or entity; the last two only with ``verbose``, and never for classes."""

    ModelName: str
    ModelType: str | None
    Precision: float
    Recall: float
    FScore: float
    EntityTextFScore: float | None = None
    EntityTypeFScore: float | None = None


@dataclass
class EntityNameAndLocation:
    """An entity that was wrong or missed."""

    EntityName: str
    StartPosition: int
    EndPosition: int


@dataclass
class QueryStats:
    """What went wrong in one utterance."""

    QueryText: str | None
    PredictedClassNames: list[str]
    LabeledClassNames: list[str]
    FalsePositiveEntities: list[EntityNameAndLocation]
    FalseNegativeEntities: list[EntityNameAndLocation]


@dataclass
class BatchTestResponse:
    """Everything that an evaluation says; `findings` are of the data, and no part of the documented fields."""

    ClassificationModelsStats: list[ModelStats] = field(default_factory=list)
    EntityModelsStats: list[ModelStats] = field(default_factory=list)
    QueryStats: list[QueryStats] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The documented names, as plain data."""
        fields = dataclasses.asdict(self)
        del fields["findings"]
        return fields

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"


def evaluate_model(
    test_data: Iterable[Any] | None,
    verbose: bool = False,
    entities: Iterable[Any] | None = None,
    classes: Iterable[Any] | None = None,
    *,
    compat: Literal["luis"] | None = None,
    end: Literal["inclusive", "exclusive"] = "inclusive",
    text_requires_type: bool = True,
) -> BatchTestResponse:
    """Score a batch of utterances; records may be dictionaries (Pascal, camel or snake case) or dataclasses.

    >>> side = {"Classification": ["Buy"], "Entities": [{"Name": "Size", "StartPosition": 0, "EndPosition": 4}]}
    >>> example = {"Text": "large", "LabeledData": side, "PredictedData": side}
    >>> evaluate_model([example]).EntityModelsStats[0].FScore
    1.0
    """
    one_of("compat", compat, (None, "luis"))
    one_of("end", end, ("inclusive", "exclusive"))
    try:
        examples = checked([pascal(example) for example in several(test_data, "test_data")])
    except RecursionError:
        raise InvalidInputException("the entities are nested too deeply") from None
    models = [modelled(given, name) for name, given in (("classes", classes), ("entities", entities))]
    count = old_entities if compat == "luis" else new_entities
    rows, lists = count(examples, models[1], end == "inclusive", text_requires_type)
    findings = [] if compat == "luis" else limited(misplaced(examples, end == "inclusive"))
    for f in findings:
        warnings.warn(str(f), stacklevel=2)
    return BatchTestResponse(
        class_stats(examples, models[0]),
        [entity_stats(name, counts, models[1], verbose, compat) for name, counts in rows.items()],
        [query_stats(example, *wrong) for example, wrong in zip(examples, lists, strict=True)],
        findings,
    )


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> None:
    if value not in allowed:
        raise InvalidInputException(f"{name} must be {' or '.join(map(repr, allowed))}, not {value!r}")


def several(given: Any, name: str) -> Iterable[Any]:
    """What was given for a list; null is an empty one."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given or (), Iterable):
        raise InvalidInputException(f"{name} must be a list, not {given!r:.60}")
    return given or ()


def modelled(given: Any, name: str) -> list[Any]:
    """The app's models, each with a name."""
    models = [pascal(model) for model in several(given, name)]
    for nth, model in enumerate(models):
        must(model, Mapping, f"{name}[{nth}]", null=False)
        must(model.get("Name"), str, f"{name}[{nth}].Name", null=False)
        must(model.get("Type"), str, f"{name}[{nth}].Type")
    return models


def pascal(value: Any) -> Any:
    """Names in the documented spelling, whatever the case of the input, all the way down."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {spelt(str(key)): pascal(inner) for key, inner in value.items()}
    return [pascal(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def spelt(key: str) -> str:
    return re.sub(r"(?:^|_)([a-zA-Z])", lambda match: match[1].upper(), key)


SIDES = ("LabeledData", "PredictedData")


def checked(examples: list[Any]) -> list[Any]:
    """The examples, or what the old package raises for them, in its order; a note says where."""
    if not examples:
        raise InvalidInputException("The field testData can't be null")
    for number, example in enumerate(examples, 1):
        shaped(example, f"example {number}")
    for number, example in enumerate(examples, 1):
        if any((example or {}).get(side) is None for side in SIDES):
            raise noted(InvalidInputException("The field ActualData and LabeledData can't be null"), number)
    for number, example in enumerate(examples, 1):
        for name in ("Classification", "Entities"):
            if any(example[side].get(name) is None for side in SIDES):
                raise noted(InvalidInputException(f"The field {name} can't be null"), number)
    for number, example in enumerate(examples, 1):
        for side in SIDES:
            named(example[side]["Classification"], number)
            whole(example[side]["Entities"], number)
    return examples


def noted(error: ValueError, number: int) -> ValueError:
    error.add_note(f"in example {number}")
    return error


def shaped(example: Any, where: str) -> None:
    """Stop at what is of another kind than documented; what is null has messages of its own."""
    must(example, Mapping, where)
    must((example or {}).get("Text"), str, f"{where}: Text")
    for side in SIDES:
        data = (example or {}).get(side)
        must(data, Mapping, f"{where}: {side}")
        for name in ("Classification", "Entities"):
            must((data or {}).get(name), list, f"{where}: {side}.{name}")
        for nth, name in enumerate((data or {}).get("Classification") or ()):
            must(name, str, f"{where}: {side}.Classification[{nth}]")
        shaped_entities((data or {}).get("Entities") or (), f"{where}: {side}.Entities")


def shaped_entities(entities: Iterable[Any], where: str) -> None:
    for nth, entity in enumerate(entities):
        place = f"{where}[{nth}]"
        must(entity, Mapping, place)
        if entity is None:
            continue
        must(entity.get("Name"), str, f"{place}.Name")
        for name in ("StartPosition", "EndPosition"):
            must(entity.get(name), int, f"{place}.{name}", null=False)
        must(entity.get("Children"), list, f"{place}.Children")
        shaped_entities(entity.get("Children") or (), f"{place}.Children")


KINDS: dict[Any, str] = {Mapping: "an object", list: "a list", str: "text", int: "a whole number"}


def must(value: Any, kind: type[Any], what: str, *, null: bool = True) -> None:
    if value is None and null:
        return
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidInputException(f"{what} must be {KINDS[kind]}, not {value!r:.60}")
    if isinstance(value, int) and abs(value) >= 1 << 62:  # room is left for the place behind an inclusive end
        raise InvalidInputException(f"{what} must be a number of 64 bits, not {value!r:.60}")


def named(names: Sequence[Any], number: int) -> None:
    if any(name is None for name in names):
        raise noted(ArgumentNullException("Value cannot be null.\nParameter name: key"), number)


def whole(entities: Sequence[Any], number: int) -> None:
    if any(entity is None for entity in entities):
        raise noted(NullReferenceException("Object reference not set to an instance of an object"), number)
    for entity in entities:
        named([entity.get("Name")], number)
        whole(entity.get("Children") or (), number)


def misplaced(examples: list[Any], inclusive: bool) -> Iterator[Finding]:
    """Entities whose offsets cannot be right; those without a character match nothing."""
    for number, example in enumerate(examples, 1):
        for side in SIDES:
            for name, entity in preorder(example[side]["Entities"]):
                start, end = entity["StartPosition"], entity["EndPosition"]
                if end + inclusive <= start or start < 0:
                    problem = "starts before the text" if start < 0 else "has no character, so it matches nothing"
                    place = {"number": number, "side": side, "name": name, "start": start, "end": end}
                    yield finding("entity-misplaced", **place, problem=problem)


Counts = dict[str, list[int]]
"""By full name: [correct type, correct text, labelled, predicted], and correct text among the predicted, if it differs."""
Wrong = tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]


def old_entities(examples: list[Any], models: list[Any], inclusive: bool, typed: bool) -> tuple[Counts, list[Wrong]]:
    """Every prediction against every label of its name, as the old package does."""
    counts = LuisCounts({model["Name"]: [0, 0, 0, 0] for model in models})
    return counts.rows, [counts.example(*sides(example)) for example in examples]


def sides(example: Any) -> tuple[list[Any], list[Any]]:
    return example["LabeledData"]["Entities"], example["PredictedData"]["Entities"]


def new_entities(examples: list[Any], models: list[Any], inclusive: bool, typed: bool) -> tuple[Counts, list[Wrong]]:
    """One-to-one: an entity earns credit once, and children only inside their aligned parents."""
    codes = {name: code for code, name in enumerate(names_met(examples, models))}
    pairs = [sides(example) for example in examples]
    gold, pred = (flatten([pair[side] for pair in pairs], codes, inclusive=inclusive) for side in (0, 1))
    text, kind = text_and_type(gold, pred, align(gold, pred), text_requires_type=typed)
    mine, theirs = gold.spans.label, pred.spans.label
    tallies = [
        np.bincount(labels, minlength=len(codes)).tolist()
        for labels in (mine[kind.gold], mine[text.gold], mine, theirs, theirs[text.pred])
    ]
    rows = {name: [tally[code] for tally in tallies] for name, code in codes.items()}
    names = list(codes)
    wrong, missed = (left(*side, names, len(examples), inclusive) for side in ((pred, kind.pred), (gold, kind.gold)))
    return rows, list(zip(wrong, missed, strict=True))


def names_met(examples: list[Any], models: list[Any]) -> list[str]:
    """Given models first, then full names example by example, labels before predictions."""
    met = dict.fromkeys(model["Name"] for model in models)
    for example in examples:
        for side in sides(example):
            met |= dict.fromkeys(name for name, _ in preorder(side))
    return list(met)


def left(tree: Tree, used: Any, names: list[str], units: int, inclusive: bool) -> list[list[tuple[str, int, int]]]:
    """Entities without a partner, by example."""
    alone = np.ones(len(tree.spans), bool)
    alone[used] = False
    out: list[list[tuple[str, int, int]]] = [[] for _ in range(units)]
    for row in np.flatnonzero(alone).tolist():
        spans = tree.spans
        place = names[spans.label[row]], int(spans.start[row]), int(spans.end[row]) - inclusive
        out[spans.unit[row]].append(place)
    return out


def entity_stats(name: str, counts: list[int], models: list[Any], verbose: bool, compat: str | None) -> ModelStats:
    """Half the credit for the place, half for the type; the old package divides each score by the other side."""
    kind, text, labelled, predicted, *other = counts
    text_predicted = other[0] if other else text
    of_labelled, of_predicted = quotient(kind + text, 2 * labelled), quotient(kind + text_predicted, 2 * predicted)
    shown = (of_labelled, of_predicted) if compat == "luis" else (of_predicted, of_labelled)
    parts = [
        harmonic(quotient(hit, labelled), quotient(retrieved, predicted)) if verbose else None
        for hit, retrieved in ((text, text_predicted), (kind, kind))
    ]
    return ModelStats(name, type_of(name, models), *shown, harmonic(*shown), *parts)


def class_stats(examples: list[Any], models: list[Any]) -> list[ModelStats]:
    """Each class by itself: an utterance may have several."""
    rows: dict[str, list[int]] = {model["Name"]: [0, 0, 0] for model in models}
    for example in examples:
        gold, pred = (dict.fromkeys(example[side]["Classification"]) for side in ("LabeledData", "PredictedData"))
        for name in {**gold, **pred}:
            row = rows.setdefault(name, [0, 0, 0])
            row[0] += name in gold and name in pred
            row[1] += name in gold
            row[2] += name in pred
    return [class_row(name, row, models) for name, row in rows.items()]


def class_row(name: str, row: list[int], models: list[Any]) -> ModelStats:
    hit, labelled, predicted = row
    precision, recall = quotient(hit, predicted), quotient(hit, labelled)
    return ModelStats(name, type_of(name, models), precision, recall, harmonic(precision, recall))


def type_of(name: str, models: list[Any]) -> str | None:
    """The last model of that name counts."""
    return next((model.get("Type") for model in reversed(models) if model["Name"] == name), NOT_FOUND)


def quotient(above: float, below: float) -> float:
    return above / below if below else 0.0


def harmonic(a: float, b: float) -> float:
    return quotient(2 * a * b, a + b)


def query_stats(example: Any, wrong: Iterable[Any], missed: Iterable[Any]) -> QueryStats:
    lists = ([EntityNameAndLocation(*place) for place in places] for places in (wrong, missed))
    names = (example[side]["Classification"] for side in ("PredictedData", "LabeledData"))
    return QueryStats(example.get("Text"), *names, *lists)


def read_batch(text: str, predicted: str | None = None) -> dict[str, Any]:
    """The arguments of `evaluate_model` from JSON: a list of examples, an object with testData (and the app's
    entities and classes), or labels and predictions apart, each a prediction object or a list of them.
    """
    data = pascal(json.loads(text))
    if predicted is not None:
        return {"test_data": zipped(listed(data), listed(pascal(json.loads(predicted))))}
    if isinstance(data, dict) and "TestData" in data:
        return {"test_data": data["TestData"], "entities": data.get("Entities"), "classes": data.get("Classes")}
    return {"test_data": listed(data)}


def listed(data: Any) -> list[Any]:
    return data if isinstance(data, list) else [data]


def zipped(labelled: list[Any], predicted: list[Any]) -> list[Any]:
    if len(labelled) != len(predicted):
        raise InvalidInputException(f"{len(labelled)} labelled utterances and {len(predicted)} predicted ones")
    return [
        {
            "Text": side.get("Text") if isinstance(side, dict) else None,
            "LabeledData": batch_test(side),
            "PredictedData": batch_test(other),
        }
        for side, other in zip(labelled, predicted, strict=True)
    ]


def batch_test(side: Any) -> Any:
    """A prediction object, also from the portal's batch-test layout (intent; entity, startPos, endPos, children)."""
    if not isinstance(side, dict) or "Classification" in side or "Intent" not in side:
        return side
    return {"Classification": [side["Intent"]], "Entities": [batch_entity(e) for e in side.get("Entities") or ()]}


def batch_entity(entity: Any) -> Any:
    if not isinstance(entity, dict):
        return entity
    children = [batch_entity(child) for child in entity.get("Children") or ()]
    places = {"StartPosition": entity.get("StartPos"), "EndPosition": entity.get("EndPos")}
    return {"Name": entity.get("Entity"), **places, "Children": children}
