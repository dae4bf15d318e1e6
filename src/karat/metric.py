# SPDX-License-Identifier: Apache-2.0
"""Metrics as values: definition, parameters, text form, catalogue.

A metric is one function decorated with `metric`; everything else that karat says or
does about it (catalogue, CLI, reports, laws, documentation) is derived from that function.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, islice
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from karat.cells import Cells, ClassCells, Collapsed, Weights
from karat.score import Floats, Mask, Values, mean_defined, ratio
from karat.state import stored
from karat.weights import Recorder, Replay, Scaled

Better = Literal["higher", "lower", "neither"]


class MetricError(ValueError):
    """A metric name or parameter that cannot be used; the message says what would work."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One named setting of a metric: its type (or choices) and default."""

    name: str
    kind: Any
    default: Any

    @property
    def choices(self) -> tuple[Any, ...]:
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def describe(self) -> str:
        return " | ".join(map(str, self.choices)) or _kind_name(self.kind)

    def convert(self, value: Any) -> Any:
        """``value`` (or its text) as this parameter's type."""
        if self.choices:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            alike = [c for c in self.choices if str(c) == text]
            if not alike:
                raise MetricError(f"{self.name}={value} is not one of {self.describe}")
            return alike[0]
        for kind in _members(self.kind):
            converted = _convert(kind, value)
            if kind is int and converted is not _NO and abs(converted) >= EXACT:
                raise MetricError(f"{self.name}={value} is not below 2^53, where whole numbers stay what they are")
            if converted is not _NO:
                return converted
        raise MetricError(f"{self.name}={value} is not {self.describe}")


_NO = object()
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""Numbers as everybody reads them: Python's own take underscores, and the digits of every script."""
EXACT = 2**53


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def _kind_name(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true | false", str: "text", type(None): "none"}
    return " or ".join(names.get(k, str(k)) for k in _members(kind))


def _convert(kind: Any, value: Any) -> Any:
    text = str(value).strip()
    if kind is type(None):
        return None if value is None or text.lower() == "none" else _NO
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), _NO)
    if kind is str:
        return text
    if isinstance(value, bool) or not _NUMBER.fullmatch(text):
        return _NO
    number = float(text)
    if not np.isfinite(number) or (kind is int and number != int(number)):
        return _NO
    return kind(number)


@stored("metric")
@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as a value: its name and the parameters that are not at their default.

    >>> str(karat.Metric("f1")(average="micro")), str(karat.Metric("ndcg") @ 10)
    ('f1(average=micro)', 'ndcg@10')
    """

    name: str
    params: tuple[tuple[str, Any], ...] = ()
    """Names and values, sorted."""

    def __call__(self, **params: Any) -> Metric:
        return Metric(self.name, tuple(sorted((dict(self.params) | params).items())))

    def __matmul__(self, k: int) -> Metric:
        return self(k=k)

    def __str__(self) -> str:
        params = dict(self.params)
        cut = f"@{params.pop('k')}" if params.get("k") is not None else ""
        inner = ",".join(f"{k}={_quoted(v)}" for k, v in params.items())
        return self.name + (f"({inner})" if inner else "") + cut


def _quoted(value: Any) -> str:
    text = {True: "true", False: "false", None: "none"}.get(value) if isinstance(value, (bool, type(None))) else None
    text = str(value) if text is None else text
    plain = re.fullmatch(r"[\w.+:*-]+", text) and (not isinstance(value, str) or _literal(text) == text)
    return text if plain else '"' + text.replace('"', '""') + '"'


@stored("result")
@dataclass(frozen=True, slots=True)
class Result:
    """A metric computed: one value per group, and per class where it has classes."""

    value: Floats
    reason: str
    by_class: Floats | None = None
    scope: Mask | None = None
    class_reason: str = ""


def gold_members(cells: Any, **params: Any) -> Any:
    """The gold members of each class, by cell."""
    return cells.gold_of


@dataclass(frozen=True)
class Definition:
    """The whole truth about one metric of one family of cells."""

    name: str
    function: Callable[..., Values]
    owner: type[Cells]
    better: Better
    bounds: tuple[float, float]
    reference: str
    title: str
    by_class: bool = False
    symmetric: bool = False
    """Swapping gold and predictions of the same units changes nothing."""
    unit_mean: bool = False
    """At its defaults the score is the mean of a score of each unit, as a law checks; a share is one of zeros and ones."""
    pairs: bool = False
    """The score is the chance of a pair of units, one of either kind; intervals are those of its log odds."""
    squares: bool = False
    """The score reads squares of numbers without bounds: a few units may make up its whole spread."""
    pooled: bool = False
    """The overall score is that of all test cases as one, not the mean of theirs."""
    support: Callable[..., Any] = gold_members
    """What `average=weighted` weighs classes by, of the cells and the metric's parameters: gold's number of what it counts."""
    tags: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def own_parameters(self) -> tuple[Parameter, ...]:
        hints = get_type_hints(self.function)
        return tuple(
            Parameter(p.name, hints[p.name], p.default)
            for p in inspect.signature(self.function).parameters.values()
            if p.kind is p.KEYWORD_ONLY
        )

    def parameters(self, cells: type[Cells]) -> dict[str, Parameter]:
        """Its parameters for one context's cells."""
        known = {p.name: p for p in self.own_parameters}
        if self.by_class:
            known["average"] = Parameter("average", Literal[cells.averages], cells.averages[0])
            known["classes"] = Parameter("classes", Literal["all", "gold"], "all")
        return known

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def best(self) -> float | None:
        """The score of a perfect system, where the direction and the bounds tell it."""
        end = {"higher": self.bounds[1], "lower": self.bounds[0]}.get(self.better)
        return end if end is not None and np.isfinite(end) else None

    def bind(self, metric: Metric, cells: type[Cells]) -> Metric:
        """The metric with parameters converted, checked, and defaults left out."""
        known, given = self.parameters(cells), {}
        for name, value in metric.params:
            if name not in known:
                raise MetricError(_unknown_parameter(self.name, name, known))
            value = known[name].convert(value)
            if name == "k" and value is not None and value < 1:
                raise MetricError(f"{self.name}@{value}: the first k are 1 or more")
            if value != known[name].default:
                given[name] = value
        return Metric(self.name, tuple(sorted(given.items())))

    def settings(self, metric: Metric, cells: type[Cells]) -> dict[str, Any]:
        """Every parameter with its value, defaults written out."""
        return {k: p.default for k, p in self.parameters(cells).items()} | dict(metric.params)

    def label(self, metric: Metric, cells: type[Cells]) -> str:
        """The name that a reader sees: title and what it averages over."""
        settings = self.settings(metric, cells)
        cut = f"@{settings.pop('k')}" if settings.get("k") is not None else ""
        notes = []
        if self.by_class:
            average, classes = settings.pop("average"), settings.pop("classes")
            whole = average == "auto" and classes == "all"
            alone = average in ("samples", "binary")
            notes += [] if whole else [average] if alone else [average, f"{classes} classes"]
        notes += [f"{k}={_quoted(v)}" for k, v in metric.params if k in settings]
        return self.title + cut + (f" ({', '.join(notes)})" if notes else "")

    def compute(self, W: Weights, cells: Cells, metric: Metric, fill: float = np.nan) -> Result:
        """The metric for every row of ``W``; ``fill`` stands in for undefined values."""
        params = self.settings(metric, type(cells))
        W = W if cells.weight is None else Scaled(W, cells.weight)
        if not self.by_class:
            values = self._values(W, cells, params).filled(fill)
            return Result(values.value, values.reason)
        assert isinstance(cells, ClassCells)
        average, classes = cells.average_of(params.pop("average")), params.pop("classes")
        values = self.function(W, cells, **params).filled(fill)
        # Rows that are not reported, such as resamples, are asked for their classes only where those are averaged.
        averaged = average not in ("samples", "binary")
        members = self.support(cells, **params)
        scope = cells.in_scope(W, classes, members) if averaged or W.grouped is not None else None
        reason = values.reason if average in ("micro", "binary") else "no class has a value"
        if average == "samples":
            value = self._samples(W, cells, params, fill)
        elif average == "binary":
            chosen = cells.positive
            value = np.full(W.shape[0], fill) if chosen is None else values.value[:, chosen]
            reason = NO_POSITIVE if chosen is None else reason
        elif average == "micro" and classes == "all":
            value = self.function(W, cells.collapsed(), **params).filled(fill).value[:, 0]
        else:
            assert scope is not None
            value = _average(values, average, scope, W @ members, fill)
        return Result(value, reason, values.value, scope, values.reason)

    def _values(self, W: Weights, cells: Cells, params: Mapping[str, Any]) -> Values:
        """What the function gives; of many cells it is asked block by block for its vectors, on whose products alone it depends."""
        first, *more = islice(blocks := cells.blocks(), 2)
        if not more:
            return self.function(W, cells, **params)
        tapes = []
        for block in chain([first], more, blocks):
            tapes.append(Recorder(np.ones(len(block))))
            self.function(tapes[-1], block, **params)
        products = [W @ np.concatenate(parts) for parts in zip(*(tape.asked for tape in tapes), strict=True)]
        return self.function(Replay(products, len(cells), W.shape[0]), block, **params)

    def _samples(self, W: Weights, cells: ClassCells, params: Mapping[str, Any], fill: float) -> Floats:
        samples = self.function(cells.per_cell_weights(), Collapsed(cells), **params).filled(fill).value[:, 0]
        known = ~np.isnan(samples)
        return ratio(W @ np.where(known, samples, 0.0), W @ known.astype(float), "").value


NO_POSITIVE = "there are not two classes, so that none is the positive one: name it with pos_label"


def _average(values: Values, how: str, scope: Mask, support: Floats, fill: float) -> Floats:
    if how == "micro":
        if values.num is None:
            raise MetricError("this metric has no micro average: it is not a ratio of counts")
        num = np.where(scope, values.num, 0).sum(-1)
        den = scope.any(-1) if values.den is None else np.where(scope, values.den, 0).sum(-1)
        return ratio(num, den, values.reason).filled(fill).value
    return mean_defined(values.value, scope, support if how == "weighted" else None)


def metric(
    owner: type[Cells],
    *,
    better: Better = "higher",
    bounds: tuple[float, float] = (0, 1),
    reference: str,
    title: str | None = None,
    **facts: Any,
) -> Callable[[Callable[..., Values]], Definition]:
    """Declare a function of ``(W, cells, *, parameters)`` to be a metric of a context's cells."""

    def declare(function: Callable[..., Values]) -> Definition:
        name = function.__name__.rstrip("_")
        shown = title or name.replace("_", " ").capitalize()
        return Definition(name, function, owner, better, bounds, reference, shown, **facts)

    return declare


class Catalogue:
    """The metrics of one context, computed from where they are defined."""

    def __init__(self, cells: type[Cells], definitions: Iterable[Definition]) -> None:
        self.cells = cells
        self.definitions: dict[str, Definition] = {}
        for definition in definitions:
            if not issubclass(cells, definition.owner):
                continue
            if definition.name in self.definitions and self.definitions[definition.name] is not definition:
                raise MetricError(f"two metrics are called {definition.name!r}")
            self.definitions[definition.name] = definition

    def __iter__(self) -> Any:
        return iter(self.definitions.values())

    def __getitem__(self, name: str) -> Definition:
        if name not in self.definitions:
            raise MetricError(unknown_metric(name, self.definitions))
        return self.definitions[name]

    def names(self, metric: str | Metric) -> bool:
        """Is there a metric of this name, whatever its parameters?"""
        wanted = parse(metric) if isinstance(metric, str) else metric
        return isinstance(wanted, Metric) and resolved(wanted, self.definitions).name in self.definitions

    def resolve(self, text: str | Metric) -> Metric:
        """The metric that ``text`` names, with its parameters checked."""
        if not isinstance(text, str | Metric):
            raise MetricError(f"{text!r} is not a metric; write its name, or give a karat.Metric")
        wanted = resolved(parse(text) if isinstance(text, str) else text, self.definitions)
        return self[wanted.name].bind(wanted, self.cells)


def resolved(metric: Metric, known: Collection[str]) -> Metric:
    """``precision@5`` of label sets is ``topk_precision@5``: there, the plain name has no cut-off; ``f1`` of rankings is ``f``,
    and ``success`` (``hit_rate``) and ``hits`` of label sets ``hit``."""
    other = {"f1": "f", "success": "hit", "hits": "hit"}.get(metric.name, "")
    if other in known and metric.name not in known:
        return Metric(other, metric.params)
    cut = f"topk_{metric.name}"
    return Metric(cut, metric.params) if "k" in dict(metric.params) and cut in known else metric


def split_metrics(texts: Iterable[str]) -> list[str]:
    """Metrics named one by one, or several with commas between them; nothing is not the usual ones, but no metric.

    >>> split_metrics(["accuracy,f1(average=micro, beta=1)", "kappa", ""])
    ['accuracy', 'f1(average=micro, beta=1)', 'kappa', '']
    """
    parts = ([part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()] for text in texts)
    return [part for of_text in parts for part in of_text or [""]]


def unknown_metric(name: str, known: Iterable[str], otherwise: str = "`karat metrics` lists them") -> str:
    plain = re.sub(r"[-\s]+", "_", name.strip())
    if (meant := alias(plain)) != name and meant.partition("(")[0] in (known := list(known)):
        return f"unknown metric {name!r}: did you mean {meant}?"
    near = difflib.get_close_matches(name.lower(), list(known), 3, 0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else otherwise
    return f"unknown metric {name!r}: {hint}"


def _unknown_parameter(metric: str, name: str, known: Mapping[str, Parameter]) -> str:
    if not known:
        return f"{metric} takes no parameters, got {name!r}"
    near = difflib.get_close_matches(name, list(known), 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{metric} has no parameter {name!r} (it has {', '.join(known)}){hint}"


_FORM = re.compile(r"(?P<name>[A-Za-z][\w.-]*)(?P<cut1>@[0-9]+)?(?:\((?P<args>.*)\))?(?P<cut2>@[0-9]+)?")
_ARG = re.compile(r'\s*(\w+)\s*=\s*("(?:[^"]|"")*"|[^,"]+?)\s*(,|$)')


def parse(text: str) -> Metric:
    """The metric that ``text`` spells; ``parse(str(m)) == m``.

    >>> karat.parse("P(rel=2)@5")
    Metric(name='precision', params=(('k', 5), ('rel', 2)))
    """
    aliased = alias(text.strip())
    match = _FORM.fullmatch(aliased)
    if not match:
        raise MetricError(f"{text!r} is not a metric; write name, name@k or name(parameter=value)")
    given = [] if match["args"] is None else list(_arguments(match["args"], text))
    given += [("k", _literal(cut[1:])) for cut in (match["cut1"], match["cut2"]) if cut]
    twice = [name for name, n in Counter(name for name, _ in given).items() if n > 1]
    if twice:
        raise MetricError(f"{text!r} gives {twice[0]!r} twice; give each parameter once")
    return Metric(match["name"], tuple(sorted(given)))


def _arguments(text: str, whole: str) -> Iterable[tuple[str, Any]]:
    at, more = 0, True
    while more:
        match = _ARG.match(text, at)
        if not match:
            raise MetricError(f"cannot read the parameters of {whole!r}; write name(parameter=value,…)")
        yield match[1], _literal(match[2])
        at, more = match.end(), match[3] == ","


def _literal(text: str) -> Any:
    if text.startswith('"'):
        return text[1:-1].replace('""', '"')
    if len(text) <= LONGEST and _WHOLE.fullmatch(text):
        return int(text)
    if text.lower() in ("true", "false", "none"):
        return {"true": True, "false": False, "none": None}[text.lower()]
    return float(text) if _NUMBER.fullmatch(text) else text


LONGEST = 300
"""Digits of a whole number that is read as one; Python refuses those of thousands."""


def alias(text: str) -> str:
    """Another tool's spelling in karat's words; anything else unchanged."""
    if match := _LEVEL.fullmatch(text):
        return _with_level(alias(match["plain"]), int(match["level"]))
    for pattern, name in PARAMETERS.items():
        text = re.sub(rf"(?<=[(,]){pattern}", name, text)
    for pattern, name in ALIASES.items():
        if not text.startswith(_beginnings(pattern)):
            continue
        match = re.fullmatch(rf"(?:{pattern})(?P<rest>[(@].*)?", text)
        if match:
            return (match.expand(name) + (match["rest"] or "")).replace(")(", ",")
    return text


_LEVEL = re.compile(r"(?P<plain>(?!rbp)[A-Za-z][\w-]*(@[0-9]+)?)-l(?P<level>[1-9][0-9]{0,14})")
"""ranx's level of relevance behind a name; its rbp is another one, of raw grades."""


def _with_level(name: str, level: int) -> str:
    """The metric for which grades from a level on are relevant, as those from 1 on are anyway.

    >>> _with_level("average_precision@5", 2), _with_level("fbeta(beta=2)", 3), _with_level("ndcg@5", 1)
    ('average_precision@5(rel=2)', 'fbeta(beta=2,rel=3)', 'ndcg@5')
    """
    if level == 1:
        return name
    return name.replace(")", f",rel={level})", 1) if ")" in name else f"{name}(rel={level})"


@cache
def _beginnings(pattern: str) -> tuple[str, ...]:
    """What every text that the pattern fits begins with: compiling all patterns takes longer than scoring a small file.

    >>> _beginnings("Acc|accuracy_score"), _beginnings(r"P_(\\d+)"), _beginnings("(a|b)c"), _beginnings("colou?r")
    (('Acc', 'accuracy_score'), ('P_',), ('',), ('colo',))
    """
    choices = pattern.split("|") if not set(pattern) & set("([") else [pattern if "|" not in pattern else ""]
    return tuple(str(re.match(r"(?:[\w-](?![?*{]))*", choice)[0]) for choice in choices)  # type: ignore[index]


PARAMETERS = {
    "cutoff=": "k=",
    "max_rel=": "max_grade=",
    "min_rel=": "min_grade=",
    "dcg=['\"]?exp-log2['\"]?": "gain=exponential",
    "dcg=['\"]?log2['\"]?": "gain=linear",
}
"""ir_measures' parameters (regular expressions) and karat's."""

ALIASES: dict[str, str] = {
    # scikit-learn and PyEvALL
    "Acc|Accuracy|accuracy_score": "accuracy",
    "BalancedAccuracy|balanced_accuracy_score": "balanced_accuracy",
    "SystemPrecision": "system_precision",
    "Kappa|cohen_kappa|cohen_kappa_score": "kappa",
    "MCC|matthews_corrcoef": "mcc",
    "Precision|P|precision_score": "precision",
    "Recall|R|recall_score": "recall",
    "FMeasure|F1|f1_score": "f1",
    "macro_f1|f1_macro|F1_macro": "f1",
    "micro_f1|f1_micro|F1_micro": "f1(average=micro)",
    "weighted_f1|f1_weighted": "f1(average=weighted)",
    r"[fF](?!1\b)(\d+(?:\.\d+)?)": r"fbeta(beta=\1)",
    "Jaccard|jaccard_score": "jaccard",
    "lrap|LRAP|label_ranking_average_precision_score": "label_ranking_average_precision",
    # rankings: trec_eval, pytrec_eval, ir_measures, ranx, PyEvALL
    **{
        "MAP|AP|map|mAP": "average_precision",
        r"map_cut[_.](\d+)|map@(\d+)": r"average_precision@\1\2",
        "MRR|RR|recip_rank|mrr": "reciprocal_rank",
        r"P[_.](\d+)": r"precision@\1",
        "PrecisionAtK(?=@)": "precision",
        "PrecisionAtK": "precision@10",
        r"recall[_.](\d+)": r"recall@\1",
        "nDCG|NDCG": "ndcg",
        "DCG": "dcg",
        r"ndcg_cut[_.](\d+)": r"ndcg@\1",
        "ndcg_burges": "ndcg(gain=exponential)",
        "dcg_burges": "dcg(gain=exponential)",
        "Rprec|RPrec|RPrecision|r-precision|R-precision": "r_precision",
        r"Rprec_mult[_.]([\d.]+)": r"r_precision(multiple=\1)",
        "Bpref|BPref": "bpref",
        "GMAP": "gm_map",
        "infAP": "infap",
        r"(?:iprec_at_recall[_.]|IPrec@)([\d.]+)": r"interpolated_precision(recall=\1)",
        "IPrec": "interpolated_precision",
        "11pt_avg": "eleven_point",
        r"success[_.](\d+)": r"success@\1",
        "Success|hit_rate": "success",
        "Hits": "hits",
        r"relative_P[_.](\d+)": r"relative_precision@\1",
        r"set_relative_P|SetRelP|SetP\(relative=[tT]rue\)": "relative_precision",
        "set_P|SetP": "precision",
        "set_recall|SetR": "recall",
        "set_F|SetF|f_measure": "f",
        "SetAP": "set_map",
        "binG": "bin_g",
        "G": "g",
        "Rndcg": "r_ndcg",
        "rbp_resid": "rbp_residual(p=0.9)",
        r"unj[_.](\d+)": r"unjudged@\1",
        "Judged": "judged",
        "ERR": "err",
        "nERR": "nerr",
        "RBP": "rbp",
        **{name.upper(): name for name in ("bpm", "sdcg", "insq", "inst", "nerr8", "nerr9", "nerr10", "nerr11")},
        r"rbp(?:\.|_0\.)(\d+)": r"rbp(p=0.\1)",
        "Compat": "compatibility",
        "alpha_DCG|α_DCG": "alpha_dcg(normalize=true)",
        "alpha_nDCG|α_nDCG": "alpha_ndcg",
        "ERR_IA": "err_ia(normalize=true)",
        "nERR_IA": "nerr_ia",
        "StRecall": "subtopic_recall",
        "NRBP": "nrbp",
        "nNRBP": "nnrbp",
        "P_IA": "precision_ia",
        "AP_IA|MAP_IA": "average_precision_ia",
        "NumQ": "num_q",
        r"NumRelRet|NumRet(?=\(rel)": "num_rel_ret",
        "NumRet": "num_ret",
        "NumRel": "num_rel",
    },
    "ICM": "icm",
    "ICMNorm|ICM-Norm": "icm_norm",
    "ICMSoft|ICM-Soft": "icm_soft(variant=pyevall)",
    "ICMSoftNorm|ICM-Soft-Norm": "icm_soft_norm(variant=pyevall)",
    "CrossEntropy": "cross_entropy(variant=pyevall)",
    "MAE": "mae",
    "MSE": "mse",
    "Brier|brier_score": "brier",
    "KL|KLD|kl_divergence": "kl",
    "JSD|js|jensen_shannon_divergence": "js_divergence",
    "jensenshannon|jensen_shannon_distance": "js_distance",
    "euclidean_distance": "euclidean",
    "manhattan_distance|cityblock": "manhattan",
    "cosine_similarity": "cosine",
    "EMD|wasserstein_distance|earth_movers_distance": "wasserstein",
    "soft_micro_f1|micro_soft_f1": "soft_f1",
    "soft_macro_f1|macro_soft_f1": "soft_f1(average=macro)",
    "ECE|expected_calibration_error": "ece",
    "krippendorff|krippendorffs_alpha|KrippendorffAlpha": "krippendorff_alpha",
    "fleiss|FleissKappa": "fleiss_kappa",
    "pairwise_cohen_kappa|pairwise_cohens_kappa": "pairwise_kappa",
    "top_k_accuracy|top_k_accuracy_score": "hit",
    # scores by class
    "AUC|auc|AUROC|ROC_AUC|ROC-AUC|rocauc|roc_auc_score|roc_auc_ovr": "roc_auc",
    "roc_auc_ovr_weighted": "roc_auc(average=weighted)",
    "roc_auc_ovo_weighted": "roc_auc_ovo(average=weighted)",
    "average_precision_score|AUPRC|auprc": "average_precision",
    "PR_AUC|PR-AUC|AUCPR": "pr_auc",
    "logloss|LogLoss|nll": "log_loss",
    "brier_score_loss": "brier",
    "MCE|maximum_calibration_error": "mce",
    "KS|ks_statistic": "ks",
    "Purity": "purity",
    "InversePurity": "inverse_purity",
    "FMeasurePurityInversePurity": "purity_f",
    "FMeasureClustering": "larsen_f",
    "RandStatistics|rand_score|rand_index|RI": "rand",
    "ARI|adjusted_rand_score|adjusted_rand_index": "adjusted_rand",
    "FolkesAndMallows|fowlkes_mallows_score|FMI": "fowlkes_mallows",
    "NMI-SG|NMISG": "nmi(mean=geometric)",
    "NMI|normalized_mutual_info_score": "nmi",
    "AMI|adjusted_mutual_info_score": "ami",
    "ReliabilityBCubed": "bcubed_precision(variant=pyevall)",
    "SensitivityBCubed": "bcubed_recall(variant=pyevall)",
    "b3_precision|BCubedPrecision": "bcubed_precision",
    "b3_recall|BCubedRecall": "bcubed_recall",
    "b3_f1|bcubed_f|BCubedF1": "bcubed_f1",
    "Entropy": "entropy",
    "ClassEntropy": "class_entropy",
    "VariationOfInformation|VI": "variation_of_information",
    "homogeneity_score": "homogeneity",
    "completeness_score": "completeness",
    "v_measure_score|V-measure|VMeasure": "v_measure",
    # page stream segmentation
    "PQ": "panoptic_quality",
    "STP": "straight_through",
    "MNDD": "mndd",
    "Pk": "pk",
    "WindowDiff|window_diff": "windowdiff",
}
"""Other tools' spellings (regular expressions) and karat's; the one place for both."""
