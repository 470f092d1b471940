"""Tables of any hand: delimiters, encodings, names of columns, and what stands in a cell."""

import json
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import take
from tests.formats.layouts.reading_rows import columns, flaws, read, taken_for


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_and_may_stand_in_quotes(tmp_path: Path, delimiter: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f'id{delimiter}Tweet{delimiter}Emotion\n1{delimiter}"yes{delimiter} ""no"""{delimiter}joy\n')
    assert read(file) == [{"id": "1", "text": f'yes{delimiter} "no"', "label": "joy"}]


@pytest.mark.parametrize(
    ("encoding", "begins"),
    [
        ("utf-8", b""),
        ("utf-8-sig", b""),
        ("utf-16", b""),
        ("utf-16-le", b""),
        ("cp1252", b""),
        ("utf-16-be", b"\xfe\xff"),
    ],
)
def test_the_encoding_is_found(tmp_path: Path, encoding: str, begins: bytes) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(begins + "text,label\nIch fühle mich großartig – endlich,Überraschung\n".encode(encoding))
    assert read(file) == [{"text": "Ich fühle mich großartig – endlich", "label": "Überraschung"}]


def test_a_broken_byte_in_utf8_is_a_fault_of_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_bytes(
        "text,label\nschön und groß,joy\n".encode() + b"schlimm \xff hier,fear\n" + "Ärger,anger\n".encode()
    )
    assert flaws(file) == [(3, "not UTF-8: byte 0xff behind 'schlimm '")]


def test_excel_says_in_the_first_line_what_parts_the_cells(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("sep=;\r\ntext;label\r\na, b;joy\r\n")
    assert read(file) == [{"text": "a, b", "label": "joy"}]


def test_an_index_of_pandas_becomes_the_id_only_where_it_has_a_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(",text,label\n0,one thing,joy\n1,another,fear\n")
    assert read(file)[1] == {"text": "another", "label": "fear"}


def test_numbers_with_decimals_are_ids_and_zeros_and_ones(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,text,joy,fear\n1.0,one,1.0,0.0\n2.0,two,,1.0\n3.0,three,,\n")
    assert read(file) == [
        {"id": "1", "text": "one", "labels": {"joy": 1, "fear": 0}},
        {"id": "2", "text": "two", "labels": {"fear": 1}},
        {"id": "3", "text": "three"},
    ]
    assert taken_for(file) == "wide"


def test_a_comma_may_stand_before_decimals(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text;Valence;Arousal\nso gut;3,5;2\n")
    assert read(file) == [{"text": "so gut", "values": {"valence": 3.5, "arousal": 2.0}}]


def test_blank_rows_are_passed_over_and_an_empty_label_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,label\n\none,\n,,\n  ,\ntwo,joy\n")
    assert read(file) == [{"text": "one"}, {"text": "two", "label": "joy"}]


@pytest.mark.parametrize(
    "cell", ['"[""joy"", ""fear""]"', "\"['joy', 'fear']\"", "\"['joy' 'fear']\"", '"joy, fear"', "joy|fear"]
)
def test_a_cell_may_hold_a_list(tmp_path: Path, cell: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f"text,labels\none,{cell}\ntwo,[]\n")
    assert read(file)[0]["labels"] == ["joy", "fear"]


def test_an_empty_list_says_that_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text('text,labels,spans\none two,"[""joy""]","[[0, 3]]"\nthree,[],[]\n')
    assert read(file) == [
        {"text": "one two", "labels": ["joy"], "spans": [{"start": 0, "end": 3}]},
        {"text": "three", "labels": [], "spans": []},
    ]


def test_where_no_name_tells_the_longest_column_has_the_texts(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("who,what,when\nann,this is a longer text,May\nbob,and this is another one,June\n")
    assert columns(file) == {"text": "what"}
    assert read(file)[0]["meta"] == {"who": "ann", "when": "May"}


def test_a_table_may_have_no_names(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("".join(f"I felt it {n} times today.\t{'joy' if n % 2 else 'fear'}\n" for n in range(8)))
    assert columns(file) == {"label": "2", "text": "1"}
    assert len(read(file)) == 8


def test_a_column_of_repeated_numbers_is_no_id(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,text\n1,one\n1,two\n")
    assert read(file) == [{"text": "one", "meta": {"id": "1"}}, {"text": "two", "meta": {"id": "1"}}]


def test_what_the_person_says_goes_before_what_is_found(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,note,label,mood\none thing,another,joy,fear\n")
    assert read(file, columns={"text": "note", "label": "mood", "id": "text"}) == [
        {"id": "one thing", "text": "another", "label": "fear", "meta": {"label": "joy"}}
    ]
    with pytest.raises(BadInput, match="there is no column 'Tweet' to take for text"):
        read(file, columns={"text": "Tweet"})


def test_a_row_a_span_is_gathered_to_a_row_a_text(tmp_path: Path) -> None:
    file = tmp_path / "spans.csv"
    file.write_text(
        "doc_id,text,start,end,span,label\n"
        "a,I fear and hope,2,6,fear,fear\n"
        "b,Nothing here,,,,\n"
        "a,I fear and hope,11,15,hope,joy\n"
    )
    assert taken_for(file) == "long"
    assert read(file) == [
        {
            "id": "a",
            "text": "I fear and hope",
            "spans": [{"start": 2, "end": 6, "label": "fear"}, {"start": 11, "end": 15, "label": "joy"}],
        },
        {"id": "b", "text": "Nothing here", "spans": []},
    ]


def test_a_span_whose_text_is_not_at_its_offsets_is_a_fault_that_names_both(tmp_path: Path) -> None:
    file = tmp_path / "spans.csv"
    file.write_text("id,text,start,end,span\na,I fear it,3,7,fear\n")
    assert flaws(file) == [(2, "the span [3, 7] is said to be 'fear', and 'ear ' stands there")]


def test_rows_of_several_persons_are_gathered(tmp_path: Path) -> None:
    file = tmp_path / "raters.csv"
    file.write_text("id,text,rater,label\n1,one,ann,joy\n2,two,ann,fear\n1,one,bob,fear\n")
    assert read(file) == [
        {"id": "1", "text": "one", "annotators": {"ann": {"label": "joy"}, "bob": {"label": "fear"}}},
        {"id": "2", "text": "two", "annotators": {"ann": {"label": "fear"}}},
    ]


def test_a_quote_alone_is_a_quote_where_tabs_part_the_cells(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text('text\tlabel\n"Never, he said\tfear\nagain\tjoy\n')
    assert read(file) == [{"text": '"Never, he said', "label": "fear"}, {"text": "again", "label": "joy"}]


def test_a_row_with_too_many_cells_is_a_fault_of_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,label\none,joy\ntwo,fear,more\n\nthree,\n")
    assert flaws(file) == [(3, "has 3 cells where the header has 2")]


def test_names_of_labels_stand_for_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,label\none,0\ntwo,1\n")
    assert [row["label"] for row in read(file, label_names=("joy", "fear"))] == ["joy", "fear"]
    assert [row["label"] for row in read(file)] == ["0", "1"]
    assert flaws(file, label_names=("joy",)) == [
        (3, "'label': the label 1 is none of the 1 that there are, counted from 0")
    ]


def test_a_column_that_a_person_takes_away_stays_away(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,text,label\n1,one,joy\n2,two,fear\n")
    assert read(file, columns={"id": "", "label": ""})[0] == {"text": "one", "meta": {"id": "1", "label": "joy"}}


def test_appraisals_are_numbers_under_their_own_names_and_no_valence(tmp_path: Path) -> None:
    file = tmp_path / "event.tsv"
    names = ("text_id", "emotion", "generated_text", "prolific_id", "suddenness", "pleasantness", "self_control", "age")
    rows = [
        ("1", "joy", "I felt joy when I won the match", "5f1a", "4", "5", "3", "31"),
        ("2", "anger", "I felt angry because he shouted at me", "5f1b", "3", "1", "2", "25"),
    ]
    file.write_text("".join("\t".join(row) + "\n" for row in (names, *rows)), encoding="utf-8")
    first, _ = read(file)
    assert first["values"] == {"suddenness": 4.0, "pleasantness": 5.0, "self_control": 3.0}
    assert (first["label"], first["text"], first["id"]) == ("joy", rows[0][2], "1")
    assert first["meta"] == {"prolific_id": "5f1a", "age": "31"}


def test_a_text_in_two_parts_is_one_text_with_the_places_of_its_parts(tmp_path: Path) -> None:
    file = tmp_path / "lewidi.json"
    record = {
        "text": {"context": "How was it?", "response": "Oh, just wonderful."},
        "annotations": {"Ann1": "6", "Ann2": "4"},
        "annotators": "Ann1,Ann2",
    }
    file.write_text(json.dumps({"7": record, "8": {**record, "text": "Fine."}}), encoding="utf-8")
    first, second = read(file)
    assert first["text"] == "How was it?\nOh, just wonderful."
    begins, ends = first["meta"]["parts"]["response"]
    assert first["text"][begins:ends] == "Oh, just wonderful."
    assert (second["text"], "parts" in second.get("meta", {})) == ("Fine.", False)
    assert set(first["annotators"]) == {"Ann1", "Ann2"}


BARS = "Kommentar|Gefühl|Stärke\nYou did it, yes .|Trauer|0,82\nSo what now?|Freude|0,67\nUh , no .|Freude|0,24\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_txt_whose_lines_bars_part_alike_is_a_table(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "odd.txt"
    file.write_text(BARS, encoding=encoding)
    assert taken_for(file) == "table"
    assert [row["label"] for row in read(file)] == ["Trauer", "Freude", "Freude"]
    file.write_text(BARS + "No bar.\n", encoding=encoding)
    assert taken_for(file) == "text"


def test_a_txt_with_one_comma_a_line_stays_plain_text_and_is_told(tmp_path: Path) -> None:
    file = tmp_path / "odd.txt"
    file.write_text("One, two.\nThree, four.\nFive, six.\n")
    assert taken_for(file) == "text"
    assert take(str(file), None, ReadOptions()).options.remarks == (
        "each line has 1 ',': if that parts cells, --format table --delimiter ',' reads them",
    )


def test_an_unusual_sign_between_cells_is_found_and_another_one_told(tmp_path: Path) -> None:
    file = tmp_path / "caret.csv"
    file.write_text("text^label\nhello there^joy\nso sad, me^fear\nfine, now, yes^joy\n")
    assert [(row["text"], row["label"]) for row in read(file)] == [
        ("hello there", "joy"),
        ("so sad, me", "fear"),
        ("fine, now, yes", "joy"),
    ]
    file.write_text("text:label\nhello there:joy\nso sad, me:fear\nfine (now):joy\n")
    assert take(str(file), None, ReadOptions()).options.remarks == (
        "each line has 1 ':': if that parts cells, --format table --delimiter ':' reads them",
    )


@pytest.mark.parametrize("word", ["", "nan", "NaN", "NA", "N/A", "#N/A", "null", "<NA>"])
def test_a_missing_answer_in_a_table_is_any_word_for_it_and_none_is_a_label(tmp_path: Path, word: str) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f"text,label,valence,country\none,{word},{word},{word or 'NA'}\ntwo,none,3,DE\nthree,joy,4,FR\n")
    first, second, _ = read(file)
    assert first == {"text": "one", "meta": {"country": word or "NA"}}
    assert (second["label"], second["values"]) == ("none", {"valence": 3.0})


def test_in_json_null_is_missing_and_a_string_is_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    labels = ("nan", "NA", "null", None)
    file.write_text("".join(json.dumps({"text": f"text {n}", "label": one}) + "\n" for n, one in enumerate(labels)))
    assert [row.get("label") for row in read(file)] == list(labels)


def test_a_column_a_label_may_have_missing_answers(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("text,joy,fear\none,1,nan\ntwo,0,NA\nthree,0,1\n")
    assert [row["labels"] for row in read(file)] == [{"joy": 1}, {"joy": 0}, {"joy": 0, "fear": 1}]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("7,So glad,joy\n8,He left,fear\n7,She came,joy\n", "tweet_id has '7' in lines 2 and 4"),
        ("7,So glad,joy\n,He left,fear\n8,She came,joy\n", "tweet_id is empty in line 3"),
    ],
)
def test_why_a_column_of_ids_is_not_taken_for_them_is_told(rows: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(f"tweet_id,text,label\n{rows}")
    assert take(str(file), None, ReadOptions()).options.remarks == (
        f"{why}: not taken for ids, which are the numbers of the lines (--map id=tweet_id takes it all the same, and "
        "refuses the second of an id)",
    )
    nothing = take(str(file), None, ReadOptions(columns={"id": ""}))
    assert nothing.options.remarks == ()


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (("1,234", "900"), "'1,234' is read as 1.234"),
        (("1,000", "1.25"), "'1,000' is read as 1.0"),
        (("1,234", "1,5"), ""),
    ],
)
def test_commas_that_may_be_between_thousands_are_told(cells: tuple[str, str], told: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("id,text,valence\n" + "".join(f'{n},text {n},"{cell}"\n' for n, cell in enumerate(cells)))
    remarks = take(str(file), None, ReadOptions()).options.remarks
    why = f"valence: {told}, a comma before its decimals; if it is between thousands, take it out"
    assert remarks == ((why,) if told else ())
