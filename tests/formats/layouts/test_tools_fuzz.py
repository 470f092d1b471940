"""Damaged files of annotation programs are refused or have flaws; nothing else comes of them."""

import random
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.layout import HEAD, Layout, ReadOptions
from emotui.formats.layouts.registry import LAYOUTS, layout_named
from emotui.formats.rows import Flaw, UnreadableFile
from tests.effort import tried
from tests.formats.layouts.test_brat import ANN, TEXT
from tests.formats.layouts.test_cas_xmi import TYPES, XMI
from tests.formats.layouts.test_conll import CONLL_2003, GERMEVAL, UNIVERSAL
from tests.formats.layouts.test_doccano import SHAPES
from tests.formats.layouts.test_label_studio import FULL, MINIMAL
from tests.formats.layouts.test_prodigy import CHOICE, SPANS
from tests.formats.layouts.test_webanno import ACROSS, EMOJI, RELATIONS, STACKED

pytestmark = pytest.mark.fuzz

WRITTEN_MINIMAL = """[
{"text":"a 😀","page":3,"id":4,"spans":[{"start":2,"end":3,"text":"😀","labels":["joy"]}],"label":"yes",
 "labels":{"choices":[]},"stars":[{"number":5}],"annotator":null,"annotation_id":1}
]
"""
SOUND: list[tuple[str, str, str]] = [
    ("label-studio", "x.json", FULL),
    ("label-studio", "x.json", MINIMAL),
    ("label-studio", "x.json", WRITTEN_MINIMAL),
    *(("doccano", "x.jsonl", content) for content, _ in SHAPES.values()),
    ("doccano", "x.csv", 'id,data,label\n1,"a, ""b""\n😀",joy#fear\n2,c,\n'),
    ("prodigy", "x.jsonl", f"{SPANS}\n{CHOICE % ('[3]', 'multiple')}"),
    ("prodigy", "x.jsonl", "\n".join(SPANS.replace("{", f'{{"_annotator_id":"{name}",', 1) for name in "ab")),
    ("brat", "x.ann", ANN),
    ("cas-xmi", "x.xmi", XMI),
    ("conll", "x.txt", CONLL_2003),
    ("conll", "x.txt", GERMEVAL),
    ("conll", "x.txt", UNIVERSAL),
    *(("webanno", "x.tsv", content) for content in (STACKED, EMOJI, ACROSS, RELATIONS)),
]
PIECES = [
    *(b"", b"\n", b"\t", b"\\", b"-1", b"9" * 25, b"[", b"]", b"{", b"|", b"null", b"1.5", b'"'),
    *(b"\xff", b"\xf0\x9f", b"\x00", b"\x1b"),
]


def _damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        start = chance.randint(0, len(content))
        end = min(len(content), start + chance.choice([0, 1, 1, 2, 8, 40]))
        inserted = chance.choice([*PIECES, content[start - 5 : start], bytes([chance.randrange(256)])])
        content = content[:start] + inserted + content[end:]
    return content


def _read(layout: Layout, path: Path) -> list[Any]:
    try:
        return list(layout.rows(path, ReadOptions()))
    except UnreadableFile as error:
        return [(error.line or 1, Flaw(str(error)))]


def _check(layout: Layout, path: Path) -> None:
    tried("bad inputs")
    layout.recognise(path, path.read_bytes()[:HEAD])
    for line, row in _read(layout, path):
        assert line >= 1
        if isinstance(row, Flaw):
            assert row.reason.isprintable(), row
            continue
        msgspec.json.encode(row)
        assert isinstance(row["text"], str)
        for said in (row, *(row.get("annotators") or {}).values()):
            for span in said.get("spans") or ():
                assert 0 <= span["start"] < span["end"] <= len(row["text"]), row


@pytest.mark.parametrize(("name", "file", "content"), SOUND, ids=range(len(SOUND)))
def test_a_sound_file_is_taken_for_the_program_that_wrote_it(
    tmp_path: Path, name: str, file: str, content: str
) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    places = [tmp_path, tmp_path / file] if name in ("brat", "cas-xmi") else [tmp_path / file]
    for place in places:
        head = b"" if place.is_dir() else content.encode()[:HEAD]
        assert next(layout.name for layout in LAYOUTS if layout.recognise(place, head)) == name


@pytest.mark.parametrize(("name", "file", "content"), SOUND, ids=range(len(SOUND)))
def test_a_damaged_file_has_flaws_or_is_refused(tmp_path: Path, name: str, file: str, content: str) -> None:
    layout = layout_named(name)
    assert layout is not None
    chance = random.Random(f"{name}{len(content)}")
    (tmp_path / "x.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "TypeSystem.xml").write_text(TYPES, encoding="utf-8")
    for _ in range(300):
        (tmp_path / file).write_bytes(_damaged(content.encode(), chance))
        _check(layout, tmp_path / file)


LONG = 40_000
HOSTILE = {
    "label-studio": "[" * LONG,
    "doccano": '{"text": "a", "label": ' + "[" * LONG,
    "prodigy": '{"text": "' + "a" * LONG + '", "spans": [' + '{"start": 0, "end": 1},' * LONG,
    "brat": "T1\tX " + "0 1;" * LONG + "\n#1\t" + " " * LONG,
    "conll": "#" + " " * LONG + "\n# " + "a " * LONG + "\n" + "B-" * LONG + "\tO\n",
    "webanno": "#FORMAT=WebAnno TSV 3.3\n#T_SP=x|value\n"
    + "".join(f"\n#Text=a\n1-1\t{2 * n}-{2 * n + 1}\ta\t*[1]{'|' * 50}\t\n" for n in range(2000))
    + "\n#Text=a\n1-1\t0-1\ta\t"
    + "[" * LONG
    + "]\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_made_to_be_slow_is_read_in_the_time_of_its_length(tmp_path: Path, name: str) -> None:
    layout = layout_named(name)
    assert layout is not None
    path = tmp_path / ("x.ann" if name == "brat" else "x")
    (tmp_path / "x.txt").write_text("a", encoding="utf-8")
    path.write_text(HOSTILE[name], encoding="utf-8")
    _check(layout, path)


KEYS = [
    *("id", "data", "text", "annotations", "result", "value", "start", "end", "type", "labels", "from_name", "to_name"),
    *("choices", "rating", "label", "entities", "start_offset", "end_offset", "relations", "from_id", "to_id", "spans"),
    *("accept", "answer", "options", "config", "meta", "completed_by", "head_span", "child_span", "predictions"),
]


@pytest.mark.parametrize("name", ["label-studio", "doccano", "prodigy"])
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 9) | st.just("ab"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS),
                inner,
                max_size=6,
            )
        ),
        max_leaves=25,
    )
)
def test_json_of_any_shape_has_flaws_or_is_refused(name: str, value: Any) -> None:
    layout = layout_named(name)
    assert layout is not None
    with tempfile.TemporaryDirectory() as folder:
        for content in (value, [value], {"data": {"text": "ab"}, "text": "ab", "annotations": [value], "label": value}):
            path = Path(folder) / "x.jsonl"
            path.write_bytes(msgspec.json.encode(content))
            _check(layout, path)
