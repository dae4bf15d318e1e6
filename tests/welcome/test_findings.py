"""Findings are seen, in few words, in the words of the place where they are read."""

import inspect
import re

import click
import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import COMMANDS
from karat.cli.main import karat as command
from karat.contexts.options import OPTIONS
from karat.findings import finding, finding_lines, folded, in_python
from karat.kinds import KINDS

GOLD = ["pos", "neg", "pos", "neu"] * 10


def test_a_script_sees_labels_in_the_wrong_case():
    e = karat.evaluate(GOLD, [label.upper() for label in GOLD])
    assert [f.code for f in e.findings] == ["no-common-labels"]
    assert "no predicted label is in gold (gold: 'neg', 'neu', 'pos'; predicted: 'NEG', 'NEU', 'POS')" in str(e)
    assert "spell 'POS' as gold spells 'pos'" in str(e)
    assert "no predicted label is in gold" in e.to_markdown()
    assert "no predicted label is in gold" in e._repr_html_()


def test_a_comparison_shows_what_was_found():
    c = karat.compare(GOLD, {"a": GOLD, "b": [label.upper() for label in GOLD]}, metrics=["accuracy"])
    for shown in (str(c), c.to_markdown(), c.to_html(), c._repr_html_()):
        assert "no predicted label is in gold" in shown


def test_labels_of_which_some_are_known_are_named_one_by_one():
    e = karat.evaluate(["a", "b"], ["a", "c"])
    assert [f.code for f in e.findings] == ["label-not-in-gold"]


def test_many_of_a_kind_are_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.csv").write_text("id,label\n" + "".join(f"{i},a\n" for i in range(60)))
    (tmp_path / "out.csv").write_text("id,label\n" + "".join(f"{i},{'a' if i % 2 else ''}\n" for i in range(60)))
    run = CliRunner().invoke(command, ["evaluate", "gold.csv", "out.csv"])
    assert run.exit_code == 2
    assert run.stderr.splitlines() == [
        "out.csv:2: error[missing-field]: the value is missing or null",
        "  and 29 more like it: lines 4, 6, 8, 10, 12, …",
        "  hint: give every record its value",
    ]


def test_few_of_a_kind_stay_apart_and_kinds_stay_apart():
    few = [finding("empty-value", "a", i, field="id") for i in (1, 2, 3)]
    other = [finding("empty-value", "b", 1, field="id"), finding("missing-field", "a", 9, field="id")]
    assert [f for f, rest in folded([*few, *other]) if not rest] == [*few, *other]


def test_what_was_counted_is_counted():
    many = [finding("empty-value", "a", i, field="id") for i in range(1, 21)]
    (first, rest), = folded([*many, finding("more", "a", count=1980, kind="empty-value")])  # fmt: skip
    assert (first.line, rest[:20]) == (1, "and 1999 more like i")


def test_test_cases_that_differ_come_first():
    gold = [{"test_case": "T1", "id": i, "value": "a"} for i in range(5)]
    pred = [{"test_case": "EN", "id": i, "value": "a"} for i in range(5)]
    with pytest.raises(karat.InputError) as raised:
        karat.evaluate(gold, pred)
    (found,) = raised.value.findings
    assert found.code == "no-common-cases"
    assert "(gold: 'T1'; predicted: 'EN'); 5 ids are in both under different ones" in found.message


def test_a_missing_column_is_not_without_a_header(tmp_path):
    (tmp_path / "g.csv").write_text("id,y_true\n1,a\n")
    (tmp_path / "p.csv").write_text("id,y_pred\n1,a\n")
    with pytest.raises(
        karat.InputError, match=r"no column for the value \('y_true'\); the columns are: id, y_pred"
    ) as raised:
        karat.evaluate(tmp_path / "g.csv", tmp_path / "p.csv", columns={"value": "y_true"})
    assert 'columns={"pred_value": "y_pred"}' in str(raised.value) or 'columns={"pred_value": "…"}' in str(raised.value)
    assert "--" not in str(raised.value)
    run = CliRunner().invoke(
        command, ["evaluate", *(str(tmp_path / n) for n in ("g.csv", "p.csv")), "--value", "y_true"]
    )
    assert "--pred-value" in run.stderr


# ---- hints


def options():
    found = set()
    with command.make_context("karat", ["demo"]) as context:
        for name in COMMANDS:
            own = command.get_command(context, name)
            found |= {flag for p in own.params for flag in (*p.opts, *p.secondary_opts)}
            if isinstance(own, click.Group):
                found |= {flag for sub in own.commands.values() for p in sub.params for flag in p.opts}
    return found


def keywords():
    names = {option.name for many in OPTIONS.values() for option in many}
    for function in (karat.evaluate, karat.compare):
        names |= set(inspect.signature(function).parameters)
    return names


@pytest.mark.parametrize("code", KINDS)
def test_hints_name_options_that_there_are(code):
    hint = re.sub(r"\{side\}", "gold", KINDS[code].hint)
    known = options()
    assert set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", hint)) <= known | {"-m"}
    spoken = in_python(hint)
    assert not re.search(r"(?<![\w-])--[a-z]", spoken)
    assert set(re.findall(r"\b([a-z_]+)=", spoken)) <= keywords() | {"harden"}


@pytest.mark.parametrize(
    ("hint", "spoken"),
    [
        ("pass --encoding latin-1", 'pass encoding="latin-1"'),
        ("choose --missing error|wrong|skip", 'choose missing="error"|"wrong"|"skip"'),
        ("name the scheme with --scheme if it is another", "name the scheme with scheme= if it is another"),
        ("read them as sets with --separator '|', or", 'read them as sets with separator="|", or'),
        ("name it: --test-case COLUMN", 'name it: columns={"test_case": "…"}'),
        ("name the context with -c, or fix the file", "name the context with context=, or fix the file"),
        ("name its format with --input-format", "name its format with format="),
        ("pass --max-unpacked SIZE if", "pass max_unpacked=… if"),
    ],
)
def test_hints_in_python(hint, spoken):
    assert in_python(hint) == spoken
    assert finding_lines([finding("bad-option", message="x", way_out=hint)], python=False)[-1] == f"  hint: {hint}"


def test_a_page_folds_repeats_and_a_card_opens_warnings(tmp_path):
    (tmp_path / "gold.conll").write_text("Anna B-PER\nSmith I-PER\n\n" * 30)
    (tmp_path / "out.conll").write_text("Anna O\nSmith I-PER\n\nAnna B-PER\nSmith I-PER\n\n" * 15)
    e = karat.evaluate(tmp_path / "gold.conll", tmp_path / "out.conll")
    page = e.to_html()
    assert page.count('<li class="warning">') == 1
    assert "more like it" in page
    assert "<details open><summary>Findings" in e._repr_html_()
    assert (
        "<details><summary>Findings"
        in karat.evaluate({"id": [1], "label": ["a"], "extra": [2]}, {"1": "a"})._repr_html_()
    )


def test_a_terminal_gets_whole_words():
    from karat.cli import failures

    found = finding("no-common-ids", "out.csv", gold="'a'", pred="'b'")
    lines = failures.folded(f"{found}", 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert " ".join(line.strip() for line in lines) == str(found)


def test_tags_that_are_numbers_are_said_once(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"tokens": ["Anna", "ran"], "ner_tags": [1, 0]}\n' * 30)
    found = [first for first, _ in folded(karat.validate(tmp_path / "gold.jsonl", context="spans"))]
    assert [(f.code, f.line, f.message) for f in found] == [
        ("tags-unreadable", 1, "ner_tags holds numbers in place of tags")
    ]


def test_documents_as_spacy_2_trains_with_them(tmp_path):
    (tmp_path / "gold.json").write_text('[["Anna ran", {"entities": [[0, 4, "PER"]]}], ["Bob ran", {"entities": []}]]')
    (tmp_path / "out.json").write_text('[["Anna ran", {"entities": [[0, 4, "PER"]]}], ["Bob ran", {"entities": [[0, 3, "PER"]]}]]')  # fmt: skip
    e = karat.evaluate(tmp_path / "gold.json", tmp_path / "out.json", metrics=["precision", "recall"])
    assert (e["precision"].value, e["recall"].value) == (0.5, 1.0)


@pytest.mark.parametrize(("typed", "meant"), [("F1-macro", "f1"), ("f1-micro", "f1(average=micro)")])
def test_another_spelling_is_suggested(typed, meant):
    with pytest.raises(karat.MetricError, match=re.escape(f"did you mean {meant}?")):
        karat.evaluate(["a"], ["a"], metrics=[typed])


def test_a_class_is_looked_up_as_it_was_given():
    by_class = karat.evaluate([1, 0, 1], [1, 1, 1], metrics=["f1"])["f1"].by_class
    assert by_class[1] == by_class["1"]
    assert 1 not in by_class
    with pytest.raises(KeyError, match="7"):
        by_class[7]
    assert karat.evaluate([True, False], [True, True], metrics=["recall"])["recall"].by_class[True].value == 1.0


def test_ids_that_moved_to_another_test_case_are_said():
    gold, pred = (
        [{"id": id, "test_case": case, "value": "a"} for id, case in zip("1234", cases, strict=True)]
        for cases in ("xxxy", "xyzy")
    )
    said = [f.message for f in karat.evaluate(gold, pred).findings if f.code == "test-cases-differ"]
    assert said == ["2 ids are in both files under different test cases (id '2': gold 'x', predicted 'y')"]


@pytest.mark.parametrize(("name", "near"), [("monolable", " (did you mean monolabel?)"), ("zzz", "")])
def test_a_context_that_is_not_there(name, near):
    with pytest.raises(karat.MetricError) as caught:
        karat.evaluate(["a"], ["a"], context=name)
    assert str(caught.value).startswith(f"unknown context {name!r}; there are monolabel, multilabel, ")
    assert str(caught.value).endswith(f"numbers{near}")


def test_a_metric_that_was_not_asked_for_names_those_that_were():
    e = karat.evaluate(list("abab"), list("abba"), metrics=["accuracy", "kappa"])
    with pytest.raises(karat.MetricError, match="unknown metric 'nope': this evaluation has accuracy, kappa"):
        e["nope"]
