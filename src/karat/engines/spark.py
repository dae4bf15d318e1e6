# SPDX-License-Identifier: Apache-2.0
"""The engine of Apache Spark: the only module that knows it.

Gold and prediction are joined and grouped where they are; what comes to the driver is each distinct outcome with how
often it is there. Contexts that need whole units get them partition by partition, as Arrow tables.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any, NamedTuple

import numpy as np
import pyspark
from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from karat.columns import Ints, Mask
from karat.findings import LIMIT, InputError, finding
from karat.values import name_of

Column = Any
DataFrame = Any
"""Of classic Spark or of Connect."""

_BLANKS = " \t\n\r"
_BLANK = rf"^[{_BLANKS}]*$"
_PLAIN_NUMBER = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_PLAIN_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?)?$"
_EMPTY_TIME = r"[ T]00:00:00(\.0+)?$"
NUMBER = r"(?i)^\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?|nan)\s*$"


# ---- sessions and sources


def session(master: str | None = None) -> SparkSession:
    """The session that is there, or a new one; ``sc://…`` is a Connect server."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder: Any = SparkSession.builder
    if master and master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    if master:
        builder = builder.master(master)
    try:
        spark = builder.appName("karat").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except Exception as error:  # whatever Java, the network or the cluster think of it
        raise InputError([finding("spark-unavailable", None, reason=str(error).partition("\n")[0])]) from error
    spark.sparkContext.setLogLevel("ERROR")
    return spark


_FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "parquet": ("parquet", {}), "csv": ("csv", {"header": True}), "tsv": ("csv", {"header": True, "sep": "\t"}),
    "json": ("json", {"multiLine": True}), "jsonl": ("json", {}), "ndjson": ("json", {}), "orc": ("orc", {}),
    "avro": ("avro", {}),
}  # fmt: skip
UNTYPED = ("csv", "tsv")
"""Formats that cannot tell a number from a text."""


def format_of(path: str, name: str | None) -> str:
    """The format by its name, or by the ending of the path, compressed or not."""
    parts = path.rstrip("/").rsplit("/", 1)[-1].lower().split(".")[1:]
    chosen = name or next((part for part in reversed(parts) if part in _FORMATS), "parquet")
    if chosen not in _FORMATS:
        way_out = "give " + ", ".join(_FORMATS) + ", or evaluate on one machine"
        raise InputError([finding("bad-option", path, message=f"Spark does not read {chosen}", way_out=way_out)])
    return chosen


def read_path(spark: SparkSession, path: str, format: str) -> DataFrame:
    """A file or folder of any scheme, read by the cluster."""
    source, options = _FORMATS[format]
    with guarded(path):
        data = spark.read.options(**options).format(source).load(path)
        data.schema  # noqa: B018 – Connect looks for the file only now
        return data


class guarded:
    """Faults that Spark finds in the data, as findings of karat's own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or isinstance(error, InputError):
            return
        module = type(error).__module__.partition(".")[0]
        if module not in ("pyspark", "py4j", "grpc"):
            return
        reason = _reason(error)
        if "PATH_NOT_FOUND" in str(error) or "does not exist" in reason:
            raise InputError([finding("file-missing", self.name, path=self.name)]) from error
        raise InputError([finding("data-unreadable", self.name, reason=reason)]) from error


def _reason(error: BaseException) -> str:
    """The line of Spark's message that says most: how a worker's traceback ends, the cause at the root, or the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    if any(line.startswith("Traceback") for line in lines):
        lost = "No module named" in lines[-1]
        return lines[-1] + (" (workers need karat too: install it there, or set PYSPARK_PYTHON)" if lost else "")
    causes = [line.partition(":")[2].strip() for line in lines if line.startswith("Caused by:")]
    return causes[-1] if causes else lines[0]


# ---- one side


@dataclass(frozen=True)
class Frame:
    """Gold or predictions on the cluster, with the names of our columns."""

    data: DataFrame
    read: Any
    """What the user said of it."""
    roles: Mapping[str, str]
    typed: bool = True
    graded: bool = False
    """Whether the name of the value column says that it holds numbers."""

    @property
    def name(self) -> str:
        return str(self.read.name)

    @property
    def role(self) -> str:
        return str(self.read.role)

    def type(self, role: str) -> T.DataType:
        type_: T.DataType = self.data.schema[self.roles[role]].dataType
        return type_

    def column(self, role: str) -> Column:
        """A column under its own name, whatever signs that holds."""
        return quoted(self.roles[role])

    def text(self, role: str) -> Column:
        """A column as the text that karat spells it as."""
        if role not in self.roles:
            return F.lit("")
        spelt = _spelt(self.column(role), self.type(role))
        if self.typed or not self._whole.get(role):
            return spelt
        short = F.regexp_replace(F.regexp_replace(spelt, r"\.0+$", ""), "^-0$", "0")
        return F.regexp_replace(short, _EMPTY_TIME, "")

    @cached_property
    def _whole(self) -> dict[str, bool]:
        """Of columns that a text file cannot type, whether all are numbers, or moments: empty fractions and midnight say nothing then."""
        roles = [role for role in ("id", "test_case") if role in self.roles]
        facts = [
            F.every(F.coalesce(self.column(role).rlike(kind), F.lit(True))).alias(f"{role} {i}")
            for role in roles
            for i, kind in enumerate((_PLAIN_NUMBER, _PLAIN_MOMENT))
        ]
        with guarded(self.name):
            row = self.data.agg(*facts).collect()[0]
        return {role: bool(row[f"{role} 0"] or row[f"{role} 1"]) for role in roles}

    @cached_property
    def spells_numbers(self) -> bool:
        """Of values that a text file cannot type, whether all are numbers."""
        column = self.column("value")
        with guarded(self.name):
            row = self.data.agg(F.every(column.rlike(_PLAIN_NUMBER)).alias("all")).collect()[0]
        return bool(row["all"])

    @property
    def keys(self) -> DataFrame:
        """Test case and id of every record."""
        return self.data.select(self.case.alias("case"), self.id.alias("id"))

    @property
    def case(self) -> Column:
        return F.coalesce(self.text("test_case"), F.lit(""))

    @property
    def id(self) -> Column:
        return F.coalesce(self.text("id"), F.lit(""))


def quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def kind_of(frame: Frame) -> str:
    """What the values are, as far as their type tells: text may be labels, or lists and objects that it spells."""
    kind = frame.type("value")
    if isinstance(kind, T.ArrayType):
        return "labels"
    if isinstance(kind, (T.MapType, T.StructType)):
        return "votes" if isinstance(kind, T.MapType) and isinstance(kind.valueType, T.StringType) else "weights"
    if isinstance(kind, T.NumericType):
        return "number"
    if isinstance(kind, T.BooleanType):
        return "number" if frame.graded else "label"
    if not frame.typed and (frame.graded or (frame.roles["value"].lower() == "value" and frame.spells_numbers)):
        return "number"
    return "text"


def _spelt(column: Column, kind: T.DataType) -> Column:
    if isinstance(kind, (T.StringType, T.IntegralType, T.BooleanType)):
        return column.cast("string")
    return F.udf(_text, "string")(column)  # Java spells fractions in its own way


def _text(value: Any) -> str | None:
    return name_of(value)


Watch = Callable[[], dict[str, Any]]
"""What was counted while records passed by, once they have."""


def observed(frame: Frame, facts: Mapping[str, Column], **columns: Column) -> tuple[DataFrame, Watch]:
    """Test case and id of each record with other columns, and what is counted while the records pass by.

    Spark compiles nothing of what it observes: keep the facts few.
    """
    data = frame.data.select(frame.case.alias("case"), frame.text("id").alias("id"), *_named(columns))
    counts = [F.count(F.lit(1)).alias("rows"), *_named(facts)]
    if pyspark.__version__ < "4" and ".connect." in type(data).__module__:  # whose observations cannot be asked
        return data, lambda: data.agg(*counts).collect()[0].asDict()
    watch = Observation()
    return data.observe(watch, *counts), lambda: watch.get


def _key_facts() -> dict[str, Column]:
    """How many records have no id, a blank one, or a blank test case."""
    id, case = F.col("id"), F.col("case")
    wrong = {"no_id": id.isNull(), "blank_id": id.rlike(_BLANK), "blank_case": case.rlike(_BLANK)}
    return {name: F.count(F.when(is_so, F.lit(1))) for name, is_so in wrong.items()}


def key_counts(frame: Frame) -> dict[str, int]:
    """How many records there are, and how many of them have no key."""
    keys = frame.data.select(frame.case.alias("case"), frame.text("id").alias("id"))
    with guarded(frame.name):
        counts: dict[str, int] = keys.agg(F.count(F.lit(1)).alias("rows"), *_named(_key_facts())).collect()[0].asDict()
    return counts


def _named(columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]


# ---- distinct outcomes


class Values(NamedTuple):
    """What a side's units say, as a column of the cluster and as values of Python."""

    column: Column
    decode: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _object(entries: Any) -> Any:
    return None if entries is None else {entry["key"]: entry["value"] for entry in entries}


def values_of(frame: Frame, *, ordered: bool) -> Values:
    """The values in a form that can be grouped: maps as entries, lists as sets where their order says nothing."""
    kind, column = frame.type("value"), frame.column("value")
    if isinstance(kind, T.MapType):
        return Values(F.sort_array(F.map_entries(column)), _object)
    if isinstance(kind, T.StructType):
        return Values(F.to_json(column), _same)
    if isinstance(kind, T.ArrayType) and not ordered and isinstance(kind.elementType, T.AtomicType):
        return Values(F.sort_array(column), _same)
    return Values(column.cast("string") if isinstance(kind, T.StringType) else column, _same)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Every distinct pair of what gold and a system say of a unit, and how many units it stands for."""

    case: list[str]
    gold: list[Any]
    pred: list[Any]
    in_gold: Mask
    in_pred: Mask
    n: Ints
    key: Ints
    """Hash of the test case and id of one of the units."""
    group: Ints | None
    """Random group of units, where intervals by groups were asked for."""
    rows: Mapping[str, int]
    """Records of each side."""
    blank: bool
    """Whether the key of some record may be blank."""
    repeats: bool
    """Whether some id may be there twice."""
    alone: Alone | None
    """What only one side has, where there is any such unit."""

    def __len__(self) -> int:
        return len(self.n)


def outcomes(
    gold: Frame, pred: Frame, values: Sequence[Values], grouped: Callable[[Any], Any] | None = None
) -> Outcomes:
    """What both sides say, grouped: one job, one scan of each side, or of the one table that holds both.

    With B pairs of a join, no common id repeats exactly if each side has B units besides those that only it has. Ids that
    only one side has are looked at once more, where there are any.
    """
    both, watches = (_beside if gold.data is pred.data else _observed_and_joined)(gold, pred, values)
    keys = ["case", "gold", "pred", "in_gold", "in_pred"]
    if grouped is not None:
        both, keys = _with_group(both, grouped), [*keys, "group"]
    facts = {
        "n": F.count(F.lit(1)),
        "key": F.min(F.xxhash64("case", "id")),
        "blank": F.max(F.col("id") < "!"),  # no blank sign is greater; which ids are blank is asked where any may be
    }
    groups = _columns(both.groupBy(*keys).agg(*_named(facts)))
    return _outcomes(groups, [watch()["rows"] for watch in watches], values, partial(alone, gold, pred))


def _observed_and_joined(gold: Frame, pred: Frame, values: Sequence[Values]) -> tuple[DataFrame, list[Watch]]:
    sides, watches = zip(
        *(observed(frame, {}, **{frame.role: side.column}) for frame, side in zip((gold, pred), values, strict=True)),
        strict=True,
    )
    return _joined(gold, pred, sides), list(watches)


def _joined(gold: Frame, pred: Frame, sides: Sequence[DataFrame]) -> DataFrame:
    """Both sides by test case and id, or by the id alone, where neither has test cases.

    What has no id meets nothing: else a thousand such records on each side would make a million pairs. Which side has a unit is
    told by the id, so that no flag is shuffled with each record.
    """
    names = ["case", "id"] if "test_case" in gold.roles or "test_case" in pred.roles else ["id"]
    values = [[name for name in side.columns if name not in ("case", "id")] for side in sides]
    nothing = {"case": {"gold": "", "pred": ""}, "id": {"gold": "", "pred": " "}}
    keyed = [
        side.select(*(F.coalesce(n, F.lit(nothing[n][frame.role])).alias(f"{frame.role}_{n}") for n in names), *columns)
        for side, frame, columns in zip(sides, (gold, pred), values, strict=True)
    ]
    both = keyed[0].join(keyed[1], [F.col(f"gold_{name}") == F.col(f"pred_{name}") for name in names], "full_outer")
    keys = {"case": F.lit("")} | {name: F.coalesce(f"gold_{name}", f"pred_{name}") for name in names}
    there = {f"in_{role}": F.col(f"{role}_id").isNotNull() for role in ("gold", "pred")}
    return both.select(*_named(keys), *_named(there), *values[0], *values[1])


def _beside(gold: Frame, pred: Frame, values: Sequence[Values]) -> tuple[DataFrame, list[Watch]]:
    """Gold and prediction as columns of one table: nothing is joined, and so nothing is watched."""
    there = {"in_gold": F.lit(True), "in_pred": F.lit(True)}
    columns = {"case": gold.case, "id": gold.id, "gold": values[0].column, "pred": values[1].column, **there}
    return gold.data.select(*_named(columns)), []


def _outcomes(
    groups: Mapping[str, list[Any]], counts: Sequence[int], values: Sequence[Values], look: Callable[[], Alone]
) -> Outcomes:
    in_gold, in_pred = (np.array([bool(v) for v in groups[f"in_{role}"]], bool) for role in ("gold", "pred"))
    n = np.array(groups["n"], np.int64)
    joined = int(n[in_gold & in_pred].sum())
    units = [int(n[~there].sum()) + joined for there in (in_pred, in_gold)]
    rows = list(counts) or units
    lone = look() if (in_gold ^ in_pred).any() else None
    blank = any(groups["blank"]) or 0 < sum(not case.strip(_BLANKS) for case in groups["case"]) < len(n)
    gold, pred = ([side.decode(v) for v in groups[role]] for side, role in zip(values, ("gold", "pred"), strict=True))
    return Outcomes(
        list(groups["case"]), gold, pred, in_gold, in_pred, n, np.array(groups["key"], np.int64),
        np.array(groups["group"], np.int64) if "group" in groups else None, dict(zip(("gold", "pred"), rows, strict=True)),
        blank, rows != units or blank or (lone is not None and lone.repeats), lone,
    )  # fmt: skip


def _columns(data: DataFrame) -> dict[str, list[Any]]:
    """A small table as columns of Python values."""
    if hasattr(data, "toArrow"):
        table = data.toArrow()
        return {name: table[name].to_pylist() for name in table.column_names}
    rows = [row.asDict(recursive=True) for row in data.collect()]
    return {name: [row[name] for row in rows] for name in data.columns}


def collected(frame: Frame, rows: int) -> Any:
    """The first records as an Arrow table."""
    import pyarrow as pa

    data = frame.data.limit(rows)
    with guarded(frame.name):
        return (
            data.toArrow()
            if hasattr(data, "toArrow")
            else pa.Table.from_pylist([r.asDict(True) for r in data.collect()])
        )


def _with_group(both: DataFrame, grouped: Callable[[Any], Any]) -> DataFrame:
    """The joined rows with the random group of each unit, which karat's own hash of its id says."""
    import pyarrow as pa

    schema = T.StructType([*both.schema.fields, T.StructField("group", T.LongType())])

    def add(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            columns = {name: batch.column(name) for name in batch.schema.names}
            columns["group"] = pa.array(grouped(batch), pa.int64())
            yield pa.RecordBatch.from_pydict(columns)

    return both.mapInArrow(add, schema)


# ---- what is looked at more closely


def ids_of(frame: Frame, hashes: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Test case and id of the units that have these hashes."""
    wanted = sorted(set(hashes))
    if not wanted:
        return {}
    hash = F.xxhash64("case", "id")
    rows = frame.keys.where(hash.isin(wanted)).select(hash.alias("hash"), "case", "id").limit(4 * len(wanted)).collect()
    return {row["hash"]: (row["case"], row["id"]) for row in sorted(rows)}


class Repeated(NamedTuple):
    """Ids that are there more than once: the first of them, and how many records there are too many."""

    keys: list[tuple[str, str]]
    total: int


def repeated(frame: Frame) -> Repeated:
    """Units that have the test case and id of another; of those without an id another finding speaks."""
    again = frame.keys.groupBy("case", "id").count().where("count > 1 AND id <> ''")
    total = again.agg(F.sum(F.col("count") - 1)).collect()[0][0] or 0
    rows = again.orderBy("case", "id").limit(LIMIT).collect() if total else []
    return Repeated([(row["case"], row["id"]) for row in rows], int(total))


def repeats(frame: Frame) -> bool:
    """Does any id stand in several records?"""
    return bool(frame.keys.groupBy("case", "id").count().where("count > 1").limit(1).collect())


class Alone(NamedTuple):
    """Units that only one side has."""

    ids: dict[str, list[str]]
    """By role, the first of them."""
    repeats: bool
    spelt: tuple[int, str, str] | None
    """How many would meet if they were spelt alike, and the first such ids."""
    moved: tuple[int, str, str, str] | None
    """How many would meet if their test cases were alike, the first such id, and its test cases."""


def alone(gold: Frame, pred: Frame) -> Alone:
    """What only one side has; joined once, and kept on the cluster while it is looked at."""
    keys = [frame.data.select(frame.case.alias("case"), frame.text("id").alias("id")) for frame in (gold, pred)]
    lone = _joined(gold, pred, keys).where("NOT (in_gold AND in_pred)")
    lone = lone.groupBy("case", "id", "in_gold", "in_pred").count().persist()
    try:
        sides = [lone.where(f"in_{role}") for role in ("gold", "pred")]
        first = [side.orderBy(F.desc("count"), "case", "id").limit(LIMIT).collect() for side in sides]
        near = _alike(sides[0], sides[1]) if all(first) else (None, None)
    finally:
        lone.unpersist()
    ids = {role: [row["id"] for row in rows] for role, rows in zip(("gold", "pred"), first, strict=True)}
    return Alone(ids, any(row["count"] > 1 for rows in first for row in rows), *near)


def _alike(gold: DataFrame, pred: DataFrame) -> tuple[Any, Any]:
    """Ids that meet but for the way in which they, or their test cases, are written."""
    mine, theirs = (
        side.select(F.col("case").alias(f"{role}_case"), F.col("id").alias(f"{role}_id"), _folded("id").alias("folded"))
        for role, side in (("gold", gold), ("pred", pred))
    )
    ways = {
        ("gold_id", "pred_id"): mine.join(theirs, "folded").where("gold_id <> pred_id"),
        ("gold_id", "gold_case", "pred_case"): mine.join(theirs, mine["gold_id"] == theirs["pred_id"]),
    }
    rows = [met.agg(F.count_distinct("gold_id"), F.min(F.struct(*shown))).collect()[0] for shown, met in ways.items()]
    spelt, moved = ((count, *first) if count else None for count, first in rows)
    return spelt, moved


def _folded(id: str) -> Column:
    """An id in small letters, without blanks, leading zeros or a final .0, as `karat.align` folds them."""
    bare = F.regexp_replace(F.lower(F.regexp_replace(id, r"(?U)^\s+|\s+$", "")), r"\.0+$", "")
    return F.regexp_replace(bare, "^0+", "")


class Numbers(NamedTuple):
    """What decides whether numbers are labels."""

    known: bool
    """Whether a system uses no number that gold lacks."""
    ranks: bool
    """Whether a system's numbers are 1, 2, 3, … in every test case."""


def numbers(gold: Frame, pred: Frame) -> Numbers:
    """Are a system's numbers among gold's, and are they ranks?"""
    mine, theirs = (
        frame.data.select(frame.column("value").cast("double").alias("value")).distinct() for frame in (gold, pred)
    )
    known = not theirs.join(mine, "value", "left_anti").where("value IS NOT NULL").limit(1).collect()
    cases = pred.data.select(pred.case.alias("case"), pred.column("value").cast("double").alias("value")).groupBy(
        "case"
    )
    facts = cases.agg(
        F.count("value").alias("n"),
        F.count_distinct("value").alias("own"),
        F.min("value").alias("low"),
        F.max("value").alias("high"),
    )
    from_one = F.every(F.expr("n = own AND low = 1 AND high = n"))
    row = facts.agg(from_one.alias("ranks"), F.max("n").alias("most")).collect()[0]
    return Numbers(known, bool(row["ranks"]) and (row["most"] or 0) > 1)


def gathered(frame: Frame, other: str | None) -> Frame:
    """A long table with the rows of an item as one list of (label, other column) entries."""
    label = frame.column("value").alias("value")
    entry = [label] if other is None else [label, quoted(other).alias("other")]
    data = frame.data.select(
        frame.case.alias("test_case"), frame.text("id").alias("id"), F.struct(*entry).alias("entry")
    )
    data = data.groupBy("test_case", "id").agg(F.sort_array(F.collect_list("entry")).alias("value"))
    return replace(frame, data=data, roles={"test_case": "test_case", "id": "id", "value": "value"}, typed=True)


# ---- whole units


def mapped(data: DataFrame, work: Callable[[Any], Any]) -> list[Any]:
    """What ``work`` makes of each partition, given as one Arrow table; it must be a function that workers can import."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        parts = [batch for batch in batches if batch.num_rows]  # units are whole in a partition, not in a batch
        if parts:
            result = pickle.dumps(work(pa.Table.from_batches(parts)), pickle.HIGHEST_PROTOCOL)
            yield pa.RecordBatch.from_pydict({"part": pa.array([result], pa.binary())})

    return [pickle.loads(bytes(part)) for part in _columns(data.mapInArrow(run, "part binary"))["part"]]


def selected(frame: Frame, names: Sequence[str]) -> DataFrame:
    """Some of the columns."""
    return frame.data.select(*(quoted(name) for name in names))


def numbered(frame: Frame, rank: str | None) -> tuple[DataFrame, Watch]:
    """Test case, id and number of each record, with the rank that stands beside it, and what was counted of them."""
    value, kind = frame.column("value"), frame.type("value")
    number = value.cast("double")
    if isinstance(kind, T.StringType):
        number = F.when(value.rlike(NUMBER), F.trim(value).cast("double"))
    beside = F.lit(None).cast("double") if rank is None else quoted(rank).cast("double")
    columns = {"number": number, "given": value.cast("string"), "rank": beside, "role": F.lit(frame.role)}
    wrong = F.col("number").isNull() & F.col("given").isNotNull()
    facts = {
        **_key_facts(),
        "no_value": F.count(F.when(F.col("given").isNull(), F.lit(1))),
        "not_number": F.min(F.when(wrong, F.col("given"))),
    }
    data, watch = observed(frame, facts, **columns)
    return data.drop("given").withColumn("id", F.coalesce("id", F.lit(""))), watch


def is_role(table: Any, role: str) -> Any:
    """Which rows of a partition are of one side."""
    import pyarrow.compute as pc

    return pc.equal(table["role"], role)


def together(sides: Sequence[DataFrame], unit: str) -> DataFrame:
    """The records of both sides with all those of a unit in one partition."""
    union = reduce(lambda left, right: left.unionByName(right), sides)
    return union.repartition(unit)
