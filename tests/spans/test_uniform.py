"""Uniform JSON Lines are read from their bytes; whatever is not uniform is left to the careful reader."""

import json
import random
from contextlib import ExitStack

import pytest

from karat.findings import InputError
from karat.read.fast import span_lines, uniform
from karat.read.source import Source
from karat.read.spans import read_spans
from karat.read.table import Read

READ = Read("pages.jsonl", "gold", {}, None)


def page(name, spans, **more):
    excerpts = [{"start": start, "end": end, "poem_id": poem} for start, end, poem in spans]
    return {"page_id": name, "n_excerpts": len(spans), "excerpts": excerpts, **more}


PAGES = [
    page("p:1", [(0, 12, "a"), (20, 12345678, "a longer name, [of] {a} poem")]),
    page("p:20", []),
    page("p:3", [(7, 8, "")]),
    page("a page with a longer name", [(0, 4, "b"), (0, 9, "a"), (100, 110, "12345678")]),
]
LAYOUTS = {
    "spaced": PAGES,
    "fields behind the list": [{**p, "work_id": f"w{n}", "year": 1900 + n} for n, p in enumerate(PAGES)],
    "the list first": [{"excerpts": p["excerpts"], "page_id": p["page_id"]} for p in PAGES],
    "numbers as ids and labels": [
        {"id": n, "spans": [{"label": 17, "begin": 2, "end": 3 + n, "note": "x"}]} for n in range(12)
    ],
    "letters of other alphabets": [page("é", [(0, 4, "naïve"), (5, 6, "詩")]), page("ж", [])],
    "names of other alphabets": [{**p, "größe": n, "詩": "x"} for n, p in enumerate(PAGES)],
    "no list first": PAGES[1:],
    "one page": PAGES[:1],
}


def source(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Source(path, ExitStack())


def lines(records, compact=False):
    how = {"separators": (",", ":")} if compact else {}
    return "".join(json.dumps(r, ensure_ascii=False, **how) + "\n" for r in records)


def content(side):
    entries = side.entries
    labels = [side.names["label"][code] for code in entries["label"]]
    places = zip(entries.unit.tolist(), entries["start"].tolist(), entries["end"].tolist(), labels, strict=True)
    return list(side.keys.id), list(places), {fact for fact, holds in side.facts.items() if holds}


def read_uniform(one):
    return span_lines.read_side(one, READ, lambda row: row + 1)


def careful(one):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("karat.read.fast.ON", False)
        return content(read_spans(None, one, READ))


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("name", LAYOUTS)
def test_uniform_lines_are_read(name, compact, tmp_path, monkeypatch):
    text = lines(LAYOUTS[name], compact)
    for block, given in ((1 << 21, text), (150, text), (1, text), (1 << 21, text.rstrip("\n"))):
        monkeypatch.setattr(uniform, "BLOCK", block)
        one = source(tmp_path / "pages.jsonl", given)
        assert content(read_uniform(one)) == careful(one)


OTHERS = {
    "an escape": [page("p1", [(0, 1, 'a "quoted" poem')])],
    "an escaped name": [{**p, 'a "name"': "x"} for p in PAGES],
    "a negative number": [*PAGES, page("p2", [(-1, 4, "a")])],
    "a long number": [*PAGES, page("p2", [(1, 123456789, "a")])],
    "a fraction": [*PAGES, page("p2", [(1, 2.0, "a")])],
    "a wrong count": [*PAGES, {**PAGES[0], "n_excerpts": 1}],
    "other order": [*PAGES, dict(reversed(PAGES[0].items()))],
    "one more field": [*PAGES, {**PAGES[0], "note": "x"}],
    "one field less": [*PAGES, {"page_id": "p", "excerpts": []}],
    "a text": [{**p, "text": "a text"} for p in PAGES],
    "a test case": [{**p, "test_case": "t"} for p in PAGES],
    "no spans at all": [page("p", [])],
    "nested": [{"id": "1", "spans": [{"start": 0, "end": 1, "label": "a", "children": []}]}],
    "null": [*PAGES, page("p2", [(0, 4, None)])],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_lines_are_not_read(name, tmp_path):
    assert read_uniform(source(tmp_path / "pages.jsonl", lines(OTHERS[name]))) is None


@pytest.mark.parametrize("tail", ["\n", " \n", "x", "{}", "\r\n", "[]\n"])
def test_more_behind_the_last_line(tail, tmp_path):
    assert read_uniform(source(tmp_path / "pages.jsonl", lines(PAGES) + tail)) is None


@pytest.mark.parametrize("seed", range(20))
def test_one_changed_byte(seed, tmp_path):
    """Wherever a byte is changed, left out or added: what is read is what the careful reader reads."""
    draw = random.Random(seed)
    text = lines(draw.choice(list(LAYOUTS.values())), draw.random() < 0.5).encode()
    for _ in range(50):
        at, byte = draw.randrange(len(text)), draw.choice(b'"\\:,{}[]0179- .e\nax\x00\t\xc3\xa9')
        changed = text[:at] + bytes([byte]) * draw.choice((0, 1, 1)) + text[at + draw.choice((0, 1)) :]
        one = source(tmp_path / f"pages{_}.jsonl", changed)
        found = read_uniform(one)
        if found is not None:
            assert content(found) == careful(one), changed


def test_the_careful_reader_says_what_is_wrong(tmp_path):
    one = source(tmp_path / "pages.jsonl", lines(PAGES) + lines(PAGES[:1]).replace("12", "x"))
    assert read_uniform(one) is None
    with pytest.raises(InputError) as error:
        careful(one)
    assert [(f.code, f.line) for f in error.value.findings] == [("bad-json", 5)]
