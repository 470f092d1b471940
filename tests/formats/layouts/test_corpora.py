"""Corpora as they are released: headers and rows in the form of the releases, with texts written for these tests."""

import json
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.formats.layouts.corpora.released import GOEMOTIONS_LABELS
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import layout_named, rows, take
from tests.formats.layouts.reading_rows import flaws, read, taken_for

EC_LABELS = (
    *("anger", "anticipation", "disgust", "fear", "joy", "love", "optimism", "pessimism", "sadness", "surprise"),
    "trust",
)


def test_goemotions_has_label_numbers_of_the_list_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "train.tsv"
    file.write_text('He said "no\t27\teebbqej\nI miss him, and thanks\t15,25\ted00q6i\n', encoding="utf-8")
    expected = [
        {"id": "eebbqej", "text": 'He said "no', "labels": ["neutral"]},
        {"id": "ed00q6i", "text": "I miss him, and thanks", "labels": ["gratitude", "sadness"]},
    ]
    assert taken_for(file) == "goemotions"
    assert read(file) == expected
    (tmp_path / "emotions.txt").write_text("".join(f"e{number}\n" for number in range(28)), encoding="utf-8")
    assert read(file)[1]["labels"] == ["e15", "e25"]
    assert read(file, label_names=GOEMOTIONS_LABELS) == expected


def test_goemotions_by_rater_has_what_each_person_said_and_no_gold(tmp_path: Path) -> None:
    file = tmp_path / "goemotions_1.csv"
    more = "author,subreddit,link_id,parent_id,created_utc"
    header = f"text,id,{more},rater_id,example_very_unclear,{','.join(GOEMOTIONS_LABELS)}\n"
    zeros = ["0"] * 28

    def row(text: str, key: str, rater: int, *said: str) -> str:
        marks = ["1" if name in said else "0" for name in GOEMOTIONS_LABELS] if said else zeros
        return f"{text},{key},someone,nrl,t3_x,t1_y,1548381039.0,{rater},{not said},{','.join(marks)}\n"

    file.write_text(
        header + row("That hurt.", "a", 1, "sadness") + row("Thanks", "b", 1, "gratitude") + row("That hurt.", "a", 37)
    )
    assert taken_for(file) == "goemotions-raters"
    first, second = read(file)
    assert {name for name, value in first["annotators"]["1"]["labels"].items() if value} == {"sadness"}
    assert set(first["annotators"]["37"]["labels"].values()) == {0}
    assert first["meta"]["subreddit"] == "nrl"
    assert "example_very_unclear" not in first["meta"]
    assert "labels" not in first
    assert list(second["annotators"]) == ["1"]


def test_xed_counts_plutchiks_eight_from_one(tmp_path: Path) -> None:
    file = tmp_path / "en-annotated.tsv"
    file.write_text("You hired [PERSON] ... , and lied .\t1, 6\nLater , then .\t8, 1\n! Oh\t0\n")
    assert taken_for(file) == "xed"
    assert [row["labels"] for row in read(file)] == [["anger", "sadness"], ["trust", "anger"], ["neutral"]]


def test_a_class_by_number_is_not_an_emotion_of_xed(tmp_path: Path) -> None:
    file = tmp_path / "polarity.tsv"
    file.write_text("I love this\t1\nI hate this\t0\nmeh\t2\n")
    assert taken_for(file) == "table"


def test_semeval_2018_has_a_column_an_emotion(tmp_path: Path) -> None:
    file = tmp_path / "2018-E-c-En-dev.txt"
    emotions = list(EC_LABELS)
    file.write_text("\t".join(["ID", "Tweet", *emotions]) + '\n2018-En-1\t"Why, me #angry\t1' + "\t0" * 10 + "\n")
    assert taken_for(file) == "semeval-2018"
    (row,) = read(file)
    assert (row["id"], row["text"]) == ("2018-En-1", '"Why, me #angry')
    assert row["labels"] == {name: int(name == "anger") for name in emotions}


def test_semeval_2018_names_an_intensity_by_its_dimension(tmp_path: Path) -> None:
    file = tmp_path / "EI-reg-En-joy-train.txt"
    file.write_text("ID\tTweet\tAffect Dimension\tIntensity Score\n2017-En-30000\tSo glad, today\tjoy\t0.765\n")
    assert read(file)[0]["values"] == {"joy": 0.765}
    classes = tmp_path / "EI-oc-En-anger-dev.txt"
    said = "2: moderate amount of anger can be inferred"
    classes.write_text(f"ID\tTweet\tAffect Dimension\tIntensity Class\n2018-En-1\tNo, no\tanger\t{said}\n")
    assert read(classes)[0]["label"] == said


def test_brighter_has_labels_in_one_track_and_intensities_in_another(tmp_path: Path) -> None:
    file = tmp_path / "eng.csv"
    file.write_text('id,text,anger,fear,joy,sadness,surprise\neng_train_track_a_00001,"Far, far away",0,1,0,0,1\n')
    assert taken_for(file) == "brighter"
    (row,) = read(file)
    assert row["labels"] == {"anger": 0, "fear": 1, "joy": 0, "sadness": 0, "surprise": 1}
    file.write_text("id,text,Anger,Fear,Joy,Sadness,Surprise\nx,not very happy,0,0,1,3,0\n")
    assert read(file)[0]["values"] == {"Anger": 0, "Fear": 0, "Joy": 1, "Sadness": 3, "Surprise": 0}


@pytest.mark.parametrize("split", ["", "split,"])
def test_emobank_has_three_numbers(tmp_path: Path, split: str) -> None:
    file = tmp_path / "emobank.csv"
    value = "train," if split else ""
    file.write_text(f'id,{split}V,A,D,text\nA_1_2,{value}2.8,3.1,2.75,"""If I wasn\'t here."\n')
    assert taken_for(file) == "emobank"
    (row,) = read(file)
    assert row["values"] == {"valence": 2.8, "arousal": 3.1, "dominance": 2.75}
    assert row["text"] == "\"If I wasn't here."


def test_isear_takes_the_situation_its_emotion_and_the_key(tmp_path: Path) -> None:
    file = tmp_path / "isear.csv"
    file.write_text(
        "ID|CITY|SEX|EMOT|Field1|MYKEY|SIT|STATE|\n"
        "11001|1|1|1|joy|0110011|When each time we met, and á not before.|1|\n"
        '11001|1|1|2|fear|0110012|When "it" fell.|1|\n'
    )
    assert taken_for(file) == "isear"
    first, second = read(file)
    assert (first["id"], first["label"]) == ("0110011", "joy")
    assert first["meta"] == {"ID": "11001", "CITY": "1", "SEX": "1", "EMOT": "1", "STATE": "1"}
    assert second["text"] == 'When "it" fell.'


def test_meld_keeps_speaker_and_turn(tmp_path: Path) -> None:
    file = tmp_path / "dev_sent_emo.csv"
    file.write_text(
        "Sr No.,Utterance,Speaker,Emotion,Sentiment,Dialogue_ID,Utterance_ID,Season,Episode,StartTime,EndTime\n"
        '1,"Oh, it is gone.",Phoebe,sadness,negative,0,1,4,7,"00:20:57,256","00:21:00,049"\n'
    )
    (row,) = read(file)
    assert (row["id"], row["text"], row["label"]) == ("1", "Oh, it is gone.", "sadness")
    about = {"speaker": "Phoebe", "sentiment": "negative", "conversation": "0", "turn": "1"}
    assert about.items() <= row["meta"].items()
    assert row["meta"]["StartTime"] == "00:20:57,256"


REMAN = """<?xml version='1.0' encoding='utf-8'?>
<corpus>
\t<document author="A" book_title="B" doc_id="8551|863" url="u">
\t\t<text>I may complain &amp; weep.</text>
\t\t<adjudicated>
\t\t\t<spans>
\t\t\t\t<span annotation_id="1" annotatorId="C|A" cbegin="0" cend="1" type="character">I</span>
\t\t\t\t<span annotation_id="2" annotatorId="A" cbegin="6" cend="14" modifier="weak" type="anger">complain</span>
\t\t\t\t<span annotation_id="3" annotatorId="B" cbegin="6" cend="14" type="sadness">complains</span>
\t\t\t</spans>
\t\t\t<relations>
\t\t\t\t<relation annotatorId="A" source_annotation_id="2" target_annotation_id="1" type="experiencer">x</relation>
\t\t\t</relations>
\t\t</adjudicated>
\t\t<other><spans><span annotation_id="9" cbegin="0" cend="1" type="joy">I</span></spans><relations /></other>
\t</document>
\t<document doc_id="8551|863"><text>Nothing.</text><adjudicated><spans /><relations /></adjudicated></document>
</corpus>
"""


def test_reman_has_the_accepted_emotions_and_their_roles(tmp_path: Path) -> None:
    file = tmp_path / "reman-version1.0.xml"
    file.write_text(REMAN)
    assert taken_for(file) == "reman"
    first, second = read(file)
    assert first["text"] == "I may complain & weep."
    anger, sadness = first["spans"]
    assert (anger["start"], anger["end"], anger["label"]) == (6, 14, "anger")
    assert anger["attributes"]["relations"] == [{"type": "experiencer", "to": "1"}]
    assert anger["attributes"]["modifier"] == "weak"
    assert sadness["attributes"]["stated_text"] == "complains"
    assert first["meta"]["roles"][0]["label"] == "character"
    assert second["spans"] == []
    assert [first["id"], second["id"]] == ["8551|863", "8551|863#2"]


def test_a_span_of_reman_that_is_given_twice_is_kept_once_with_both_ids_and_told(tmp_path: Path) -> None:
    marks = [
        {"id": "1", "start": 2, "end": 6, "type": "trust", "annotators": "A"},
        {"id": "2", "start": 2, "end": 6, "type": "trust", "annotators": "C"},
    ]
    relations = [{"emotion_span": "2", "role_span": "9", "type": "cause"}]
    record = {"doc_id": "1", "text": "I weep", "emotion_spans": marks, "relations": relations}
    file = tmp_path / "reman.jsonl"
    file.write_text(json.dumps(record) + "\n")
    (mark,) = read(file)[0]["spans"]
    second = {"id": "2", "annotators": "C", "relations": [{"type": "cause", "to": "9"}]}
    assert mark["attributes"] == {"id": "1", "annotators": "A", "again": [second]}
    assert take(str(file), None, ReadOptions()).options.remarks == (
        "1 span given twice with the same label: kept once, with what is said of it the second time under `again`",
    )


@pytest.mark.parametrize(
    "declared",
    ['<!DOCTYPE c [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>', '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]>'],
)
def test_xml_that_declares_entities_is_refused(tmp_path: Path, declared: str) -> None:
    file = tmp_path / "reman.xml"
    file.write_text(REMAN.replace("<corpus>", f"{declared}<corpus>"))
    with pytest.raises(BadInput, match="declares entities"):
        list(rows(take(str(file), "reman", ReadOptions())))


def test_xml_that_is_cut_short_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "reman.xml"
    file.write_text(REMAN[:-30])
    with pytest.raises(BadInput, match=r"reman\.xml:\d+: not XML"):
        list(rows(take(str(file), None, ReadOptions())))


def test_a_span_of_reman_outside_its_text_is_a_fault(tmp_path: Path) -> None:
    file = tmp_path / "reman.xml"
    file.write_text(REMAN.replace('cend="14" modifier', 'cend="140" modifier'))
    ((line, why),) = flaws(file)
    assert (line, "lies outside the text" in why) == (3, True)


def test_a_number_without_a_label_is_a_fault_of_its_line(tmp_path: Path) -> None:
    file = tmp_path / "train.tsv"
    file.write_text("one\t3\teebbqej\ntwo\t99\ted00q6i\nthree\t2\n")
    assert [line for line, _ in flaws(file, "goemotions")] == [2, 3]


def _ecf(folder: Path, *pairs: list[str]) -> Path:
    said = [
        ("Ann", "I broke the vase .", "neutral"),
        ("Bo", "Which vase ?", "anger"),
        ("Ann", "The blue one .", "sadness"),
    ]
    turns = [
        {"utterance_ID": at, "text": text, "speaker": who, "emotion": emotion, "video_name": f"d{at}.mp4"}
        for at, (who, text, emotion) in enumerate(said, start=1)
    ]
    file = folder / "conversations.json"
    file.write_text(json.dumps([{"conversation_ID": 7, "conversation": turns, "emotion-cause_pairs": pairs}]))
    return file


def test_ecf_has_an_utterance_a_text_and_causes_as_spans_of_the_emotion_that_they_cause(tmp_path: Path) -> None:
    words = "1_broke the vase"
    file = _ecf(
        tmp_path, ["2_anger", words], ["3_sadness", words], ["3_sadness", "3_The blue one ."], ["2_anger", words]
    )
    assert taken_for(file) == "ecf"
    first, second, third = read(file)
    assert [first["id"], first["label"], second["meta"]["speaker"]] == ["7_1", "neutral", "Bo"]
    assert first["meta"] == {"conversation": "7", "turn": 1, "speaker": "Ann", "video_name": "d1.mp4"}
    assert first["spans"] == [
        {"start": 2, "end": 16, "label": "anger", "attributes": {"cause_of": [2]}},
        {"start": 2, "end": 16, "label": "sadness", "attributes": {"cause_of": [3]}},
    ]
    assert second["spans"] == []
    assert second["meta"]["causes"] == [{"turn": 1, "text": "broke the vase"}]
    assert third["meta"]["causes"][1] == {"turn": 3, "text": "The blue one ."}


def test_a_cause_of_ecf_may_be_a_whole_turn_and_is_then_no_span(tmp_path: Path) -> None:
    first, second, _ = read(_ecf(tmp_path, ["2_anger", "1"]))
    assert "spans" not in first
    assert second["meta"]["causes"] == [{"turn": 1}]


def test_a_pair_of_ecf_about_a_turn_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    assert [why for _, why in flaws(_ecf(tmp_path, ["9_joy", "1"]))] == [
        "the pair ['9_joy', '1'] names a turn that the conversation lacks"
    ]


def _dimabsa(folder: Path, *records: object) -> Path:
    file = folder / "dev.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def test_dimabsa_has_aspects_and_opinions_as_linked_spans_with_valence_and_arousal(tmp_path: Path) -> None:
    text = "The soup was great but the waiter was rude"
    file = _dimabsa(
        tmp_path,
        {
            "ID": "r1",
            "Text": text,
            "Quadruplet": [
                {"Aspect": "soup", "Category": "FOOD#QUALITY", "Opinion": "great", "VA": "7.50#7.62"},
                {"Aspect": "waiter", "Category": "SERVICE#GENERAL", "Opinion": "rude", "VA": "2.10#6.00"},
                {"Aspect": "NULL", "Category": "PLACE", "Opinion": "NULL", "VA": "5.00#5.00"},
            ],
        },
    )
    assert taken_for(file) == "dimabsa"
    (row,) = read(file)
    told = {text[span["start"] : span["end"]]: span for span in row["spans"]}
    assert [span["start"] for span in row["spans"]] == sorted(span["start"] for span in row["spans"])
    assert {name: span["label"] for name, span in told.items()} == {
        "soup": "aspect", "great": "opinion", "waiter": "aspect", "rude": "opinion",
    }  # fmt: skip
    great, soup = told["great"]["attributes"], told["soup"]["attributes"]
    assert (great["valence"], great["arousal"], soup["category"]) == (7.5, 7.62, "FOOD#QUALITY")
    assert great["relations"] == [
        {"to": soup["id"], "type": "about", "valence": 7.5, "arousal": 7.62, "category": "FOOD#QUALITY"}
    ]
    assert row["meta"]["without_place"] == [
        {"Aspect": "NULL", "Category": "PLACE", "Opinion": "NULL", "VA": "5.00#5.00"}
    ]


def test_an_aspect_of_dimabsa_without_opinions_has_the_numbers_itself_and_one_that_stands_twice_is_told(
    tmp_path: Path,
) -> None:
    said = [{"Aspect": "soup", "VA": "7.00#6.00"}, {"Aspect": "bread", "VA": "3.00#4.00"}]
    file = _dimabsa(tmp_path, {"ID": 1, "Text": "soup and soup", "Aspect_VA": said}, {"ID": 2, "Text": "none"})
    first, second = read(file)
    assert first["spans"] == [{"start": 0, "end": 4, "label": "aspect", "attributes": {"valence": 7.0, "arousal": 6.0}}]
    assert first["meta"]["without_place"] == [said[1]]
    assert "spans" not in second
    assert take(str(file), None, ReadOptions()).options.remarks == (
        "1 aspects or opinions stand in their text more than once: the first place is taken",
    )


def test_an_opinion_of_two_aspects_has_the_numbers_of_each_with_its_aspect(tmp_path: Path) -> None:
    text = "Food and service great"
    said = [
        {"Aspect": "Food", "Opinion": "great", "Category": "FOOD#QUALITY", "VA": "8.00#7.00"},
        {"Aspect": "service", "Opinion": "great", "Category": "SERVICE#GENERAL", "VA": "6.00#4.00"},
        {"Aspect": "Food", "Opinion": "great", "Category": "FOOD#PRICES", "VA": "8.00#7.00"},
    ]
    (row,) = read(_dimabsa(tmp_path, {"ID": "r1", "Text": text, "Quadruplet": said}))
    food, service, great = row["spans"]
    assert [span["attributes"] for span in (food, service)] == [
        {"id": "s1", "category": ["FOOD#QUALITY", "FOOD#PRICES"]},
        {"id": "s3", "category": "SERVICE#GENERAL"},
    ]
    # Neither pair of numbers is that of the words alone.
    assert great["attributes"] == {
        "id": "s2",
        "relations": [
            {"to": "s1", "type": "about", "valence": 8.0, "arousal": 7.0, "category": "FOOD#QUALITY"},
            {"to": "s3", "type": "about", "valence": 6.0, "arousal": 4.0, "category": "SERVICE#GENERAL"},
            {"to": "s1", "type": "about", "valence": 8.0, "arousal": 7.0, "category": "FOOD#PRICES"},
        ],
    }


@pytest.mark.parametrize("name", ["label-studio", "doccano", "brat", "webanno"])
def test_a_layout_that_keeps_no_numbers_of_relations_says_so(tmp_path: Path, name: str) -> None:
    ties = [{"to": "s1", "type": "about", "valence": 8.0}]
    spans = [
        {"start": 0, "end": 4, "label": "aspect", "attributes": {"id": "s1"}},
        {"start": 5, "end": 10, "label": "opinion", "attributes": {"id": "s2", "relations": ties}},
    ]
    layout = layout_named(name)
    assert layout is not None
    assert layout.write is not None
    told = layout.write(tmp_path / "out.json", [{"id": "a", "text": "Food great", "spans": spans}])
    assert any("what is said of relations beside their type" in line for line in told)


def test_further_numbers_of_words_without_another_aspect_are_kept_beside_them(tmp_path: Path) -> None:
    said = [
        {"Aspect": "NULL", "Category": "FOOD", "Opinion": "great", "VA": "8.00#7.00"},
        {"Aspect": "NULL", "Category": "PLACE", "Opinion": "great", "VA": "6.00#5.00"},
        {"Aspect": "soup", "Category": "FOOD", "Opinion": "great", "VA": "7.00#7.00"},
    ]
    (row,) = read(_dimabsa(tmp_path, {"ID": 1, "Text": "great soup", "Quadruplet": said}))
    great = row["spans"][0]["attributes"]
    assert (great["valence"], great["arousal"], great["category"]) == (8.0, 7.0, ["FOOD", "PLACE"])
    assert great["further"] == [{"valence": 6.0, "arousal": 5.0, "category": "PLACE"}]
    assert [tie["valence"] for tie in great["relations"]] == [7.0]


def test_words_of_dimabsa_and_ecf_are_found_as_words(tmp_path: Path) -> None:
    said = [{"Aspect": "tea", "VA": "7.00#6.00"}, {"Aspect": "ste", "VA": "3.00#4.00"}]
    file = _dimabsa(tmp_path, {"ID": 1, "Text": "The steak was cold but the tea was hot", "Aspect_VA": said})
    (row,) = read(file)
    assert [(span["start"], span["end"]) for span in row["spans"]] == [(4, 7), (27, 30)]
    assert take(str(file), None, ReadOptions()).options.remarks == (
        "1 aspects or opinions stand in their text only inside other words",
    )
    file = _ecf(tmp_path, ["2_anger", "1_the"])
    file.write_text(file.read_text().replace("I broke the vase .", "Mother, the vase !"))
    assert [(span["start"], span["end"]) for span in read(file)[0]["spans"]] == [(8, 11)]


def test_numbers_of_dimabsa_that_are_none_are_a_fault_of_their_line(tmp_path: Path) -> None:
    file = _dimabsa(
        tmp_path,
        {"ID": "a", "Text": "soup", "Aspect_VA": [{"Aspect": "soup", "VA": "7.00"}]},
        {"ID": "b", "Text": "soup", "Triplet": "soup"},
        {"Text": "soup", "Aspect_VA": []},
    )
    assert [line for line, _ in flaws(file)] == [1, 2, 3]
