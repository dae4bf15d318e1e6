# SPDX-License-Identifier: Apache-2.0
"""Files as they come from disk: packed in several streams, damaged, huge once unpacked, oddly named or encoded."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import mmap
import os
import struct
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

import karat
from karat.cli.main import karat as karat_command
from karat.read import source
from karat.read.source import BLOCK, Content, Source

ROWS = [f'{{"id": "{i}", "value": "{"AB"[i % 2]}"}}\n'.encode() for i in range(100)]
PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def codes(path, **how) -> list[str]:
    with pytest.raises(karat.InputError) as caught:
        karat.evaluate(str(path), str(path), **how, allow_same=True)
    return [f.code for f in caught.value.findings]


@pytest.fixture(params=PACKERS)
def packed(request):
    return PACKERS[request.param]


def test_streams_one_after_the_other_are_one_file(packed, tmp_path):
    path = tmp_path / "gold"
    path.write_bytes(packed(b"".join(ROWS[:50])) + packed(b"".join(ROWS[50:])))
    assert karat.evaluate(str(path), str(path), allow_same=True).systems[0].counts["gold"] == 100


def test_zeros_may_stand_between_streams_and_behind_the_last(packed, tmp_path):
    path = tmp_path / "gold"
    path.write_bytes(packed(b"".join(ROWS[:50])) + bytes(8) + packed(b"".join(ROWS[50:])) + bytes(4))
    assert karat.evaluate(str(path), str(path), allow_same=True).systems[0].counts["gold"] == 100


@pytest.mark.parametrize("first", [0x50, 0x5F])
def test_frames_of_zstd_that_are_skipped(first, tmp_path):
    """pzstd begins with one, and any may stand between others; what else would be there is in the file."""
    skipped = bytes([first]) + b"*M\x18" + struct.pack("<I", BLOCK + 5) + bytes(BLOCK + 5)
    pack, path = PACKERS["zst"], tmp_path / "gold"
    path.write_bytes(skipped + pack(b"".join(ROWS[:50])) + skipped + pack(b"".join(ROWS[50:])))
    assert karat.evaluate(str(path), str(path), allow_same=True).systems[0].counts["gold"] == 100
    path.write_bytes(skipped)
    assert codes(path) == ["file-empty"] * 2
    path.write_bytes(skipped[:-1])
    assert codes(path) == ["file-unreadable"] * 2


def test_what_is_packed_twice_is_called_so(packed, tmp_path):
    (tmp_path / "gold").write_bytes(packed(gzip.compress(b"".join(ROWS))))
    with pytest.raises(karat.InputError, match=r"it is packed twice, gzip inside \w+: unpack it once"):
        karat.evaluate(str(tmp_path / "gold"), str(tmp_path / "gold"), allow_same=True)
    (tmp_path / "gold").write_bytes(packed(b"BZhang,value\n1,A\n2,B\n"))
    assert "file-unreadable" not in codes(tmp_path / "gold")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_texts_with_and_without_a_mark(encoding, tmp_path):
    path, text = tmp_path / "gold.csv", "id,value\n1,A\n2,Ä\n"
    path.write_bytes(("\ufeff" + text).encode(encoding))
    found = karat.evaluate(str(path), str(path), metrics=["accuracy"], allow_same=True)
    assert (found["accuracy"].value, found.systems[0].counts["gold"]) == (1, 2)
    assert f"read as {encoding[:6].upper()}" in {f.message for f in found.findings}
    path.write_bytes(text.encode(encoding))
    with pytest.raises(karat.InputError, match=f"looks like {encoding[:6].upper()} without") as error:
        karat.evaluate(str(path), str(path), allow_same=True)
    assert encoding in error.value.findings[0].hint
    assert karat.evaluate(str(path), str(path), encoding=encoding, allow_same=True).systems[0].counts["gold"] == 2
    if "32" in encoding:
        path.write_bytes("ид\tзнак\n1\tда\n2\tнет\n".encode(encoding))
        assert codes(path) == ["looks-utf16"] * 2


@pytest.mark.parametrize("damage", ["first byte of the second stream", "garbage at the end", "cut off"])
def test_damage_behind_the_first_stream_is_found(packed, damage, tmp_path):
    first, second = packed(b"".join(ROWS[:50])), packed(b"".join(ROWS[50:]))
    data = {
        "first byte of the second stream": first + bytes([second[0] ^ 1]) + second[1:],
        "garbage at the end": first + second + b"what is this",
        "cut off": first + second[:-9],
    }[damage]
    (tmp_path / "gold").write_bytes(data)
    assert codes(tmp_path / "gold") == ["file-unreadable"] * 2


def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused(packed, tmp_path):
    path = tmp_path / "gold"
    path.write_bytes(packed(b"".join(ROWS)))
    assert codes(path, max_unpacked=1000) == ["unpacked-too-large"] * 2
    assert karat.evaluate(str(path), str(path), max_unpacked=10_000, allow_same=True).systems[0].counts["gold"] == 100


def test_an_empty_name_is_no_folder():
    """As where a shell's variable has no value."""
    assert codes("") == ["file-missing"] * 2


def test_nothing_in_a_packed_file_is_an_empty_file(packed, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(packed(b""))
    assert codes(path) == ["file-empty"] * 2


def test_what_is_small_may_be_packed_as_tightly_as_it_will(packed, tmp_path):
    path = tmp_path / "gold.json"
    path.write_bytes(packed(b"[" + b",".join(ROWS) + b"]" + b" " * 10_000_000))
    assert path.stat().st_size * source.RATIO < 10_000_000
    assert karat.evaluate(str(path), str(path), allow_same=True).systems[0].counts["gold"] == 100


def test_a_bomb_is_refused_by_default(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "LEAST", 1 << 20)
    frame = zstandard.ZstdCompressor().compress(bytes(1 << 19))
    (tmp_path / "bomb").write_bytes(frame * 3)
    assert codes(tmp_path / "bomb") == ["unpacked-too-large"] * 2


@pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="needs a file of Linux that has no size and no end")
def test_a_file_without_an_end_is_refused(monkeypatch):
    monkeypatch.setattr(source, "LEAST", 1 << 20)
    assert codes(Path("/proc/self/pagemap")) == ["unpacked-too-large"] * 2


def test_the_command_takes_sizes(tmp_path):
    path = tmp_path / "gold"
    path.write_bytes(gzip.compress(b"".join(ROWS)))
    for size, code in (("1KB", 2), ("1 MB", 0), ("0.5MB", 0), ("2000000", 0), ("lots", 2)):
        said = CliRunner().invoke(
            karat_command, ["evaluate", str(path), str(path), "--allow-same", "--max-unpacked", size]
        )
        assert said.exit_code == code, size


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="the system takes no advice about memory")
def test_pages_that_were_read_are_given_back(tmp_path):
    """Whole pages from the start; the one that has been begun is still needed."""
    (tmp_path / "gold").write_bytes(bytes(3 * mmap.PAGESIZE))
    advice = []

    class Told(Content):
        def madvise(self, *what):
            advice.append(what)

    with (tmp_path / "gold").open("rb") as file, Told(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        assert content.done(2 * mmap.PAGESIZE + 5) == 2 * mmap.PAGESIZE + 5
    assert advice == [(mmap.MADV_DONTNEED, 0, 2 * mmap.PAGESIZE)]


def command(line, **how):
    return subprocess.run([sys.executable, "-m", "karat", *line], capture_output=True, text=True, check=False, **how)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_mark_inside_the_text_is_a_character(encoding, tmp_path):
    first = "id,value\n"
    text = first + "1," + "x" * (BLOCK - len(first) - 2) + "\ufeff\n2,B\n"
    (tmp_path / "gold.csv").write_bytes(text.encode(encoding))
    with ExitStack() as stack:
        assert Source(tmp_path / "gold.csv", stack).bytes().decode() == text


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux alone")
def test_a_name_that_is_not_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/gold\xff.csv"
    with open(path, "wb") as file:
        file.write(b"id,value\n1,A\n2,B\n")
    given = os.fsdecode(path)
    found = karat.evaluate(given, [given], metrics=["accuracy"], allow_same=True)
    assert found["accuracy"].value == 1.0
    assert found.systems[0].name == "gold\\xff"
    assert json.loads(found.to_json())["provenance"]["inputs"][0]["path"] == "gold\\xff.csv"
    with open(path, "wb") as file:
        file.write(b"id,value\n1,A\n1,B\n")
    said = command(["evaluate", given, given, "--allow-same"])
    assert said.returncode == 2
    assert "gold\\xff.csv:3: error[repeated-id]" in said.stderr


@pytest.mark.parametrize("encoding", ["rot13", "base64", "hex", "zip", "no such thing", "a\0b", "undefined"])
def test_encodings_that_are_none(encoding, tmp_path):
    (tmp_path / "gold.csv").write_text("id,value\n1,A\n")
    assert set(codes(tmp_path / "gold.csv", encoding=encoding)) <= {"bad-option", "file-unreadable"}


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="there is no /proc")
def test_files_that_have_no_size_and_devices():
    assert codes("/proc/cpuinfo")
    assert codes("/dev/zero") == ["file-unreadable"] * 2
    assert codes(os.devnull) == ["file-empty"] * 2


def test_closed_standard_input(tmp_path):
    (tmp_path / "gold.csv").write_text("id,value\n1,A\n")
    said = command(["evaluate", str(tmp_path / "gold.csv"), "-"], preexec_fn=lambda: os.close(0))
    assert said.returncode == 2
    assert "the standard input is closed" in said.stderr


def test_arrow_offsets_outside_of_their_buffer(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"id": [str(i) for i in range(10)], "value": ["A", "B"] * 5})
    with arrow.ipc.new_file(tmp_path / "gold.arrow", table.schema) as writer:
        writer.write_table(table)
    data = bytearray((tmp_path / "gold.arrow").read_bytes())
    at = data.find(struct.pack("<11i", *range(11))) + 40
    for wrong in (872_415_184, -5):
        data[at : at + 4] = struct.pack("<i", wrong)
        (tmp_path / "bad.arrow").write_bytes(data)
        assert codes(tmp_path / "bad.arrow") == ["file-unreadable"] * 2
