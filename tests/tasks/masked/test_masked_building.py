"""Building masked records: the protocol's rules one by one, the hand-marked posts, segments, files and their faults."""

import csv
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.records import Text
from emotui.tasks.masked.building.build import Segment, build, own_words, segments
from emotui.tasks.masked.building.protocol import decisions, hanta
from tests.conftest import Emotui

MASK = "<mask>"


def masked(text: str) -> list[str]:
    return [one.word for one in decisions(text, own_words(), hanta()) if one.masked]


def test_on_the_hand_marked_posts_precision_and_recall_are_at_least_95_percent() -> None:
    right = wrong = missed = 0
    for line in files("emotui.sample_data").joinpath("masked_raw.jsonl").read_text("utf-8").splitlines():
        post = json.loads(line)
        gold = {tuple(place) for place in post["meta"]["places"]}
        got = {(one.start, one.end) for one in decisions(post["text"], own_words(), hanta()) if one.masked}
        right, wrong, missed = right + len(gold & got), wrong + len(got - gold), missed + len(gold - got)
    assert right >= 50
    assert right / (right + wrong) >= 0.95
    assert right / (right + missed) >= 0.95


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I feel sad.", ["sad"]),
        ("i have felt extremely angry", ["angry"]),
        ("I had been feeling kind of numb.", ["numb"]),
        ("I will never feel lonely here.", ["lonely"]),
        ("I am so, so excited!", ["excited"]),
        ("Im tired and I'm worried.", ["tired", "worried"]),
        ("I was a bit nervous.", ["nervous"]),
        ("Feeling lost today.", ["lost"]),
        ("Am I a bad friend for feeling upset?", ["upset"]),
        ("I feel so much gratitude for him.", ["gratitude"]),
        ("I feel strong, and I am strong.", ["strong"]),  # behind am it is not a feeling
    ],
)
def test_the_three_patterns_in_their_tenses_mask_the_writers_own_word(text: str, words: list[str]) -> None:
    assert masked(text) == words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I feel he was sad.", "a pronoun stands before the word: 'he'"),
        ("I felt a wave of relief.", "a noun stands before the word: 'wave'"),
        ("I feel how happy he is.", "a wh-word stands before the word: 'how'"),
        ("What I feel is pity.", "a verb stands before the word: 'is'"),
        ("I know they feel sad.", "a pronoun stands between I and feel: 'they'"),
        ("I saw people feel sad.", "a noun stands between I and feel: 'people'"),
        ("I am in the happiness business.", "am is followed by NN1, not by an adjective"),
        ("I feel sad and lonely.", "only the first emotion word behind feel is masked, here 'sad'"),
        ("She is feeling sad.", "a pronoun stands before feeling: 'She'"),
        ("This feeling of sadness stays.", "feeling is a noun here, behind 'This'"),
        ("My mum was feeling anxious.", "it is the feeling of 'mum'"),
        ("I feel that angry people scare me.", "a clause begins: 'that'"),
        ("He asked if I was sad.", "a condition or a question, not a disclosure: 'if'"),
        ('He said "I am furious" and left.', "between quotation marks: another may be speaking"),
        ("I feel it is very, very, very sad.", "no feel, am or feeling within three words before it"),
        ("They are sad.", "no feel, am or feeling within three words before it"),
    ],
)
def test_a_word_that_is_left_has_the_rule_that_left_it(text: str, why: str) -> None:
    *_, last = decisions(text, own_words(), hanta())
    assert (last.masked, last.why) == (False, why)


def test_what_a_person_should_look_at_is_named() -> None:
    texts = ("I am not scared.", "I think I would feel relieved.", "I am a proud father.", "I am sad.")
    assert [decisions(text, own_words(), hanta())[0].review for text in texts] == [
        ("negated",),
        ("conditional",),
        ("attributive",),
        (),
    ]


@given(st.text(alphabet="I feel amsd.\"'\n,", max_size=60))
def test_decisions_stand_in_the_text_in_order_and_masking_them_gives_a_label_a_mask(text: str) -> None:
    def tag(words: Sequence[str]) -> list[str]:
        return ["AJ0"] * len(words)

    found = decisions(text, own_words(), tag)
    assert all(text[one.start : one.end] == one.word for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)
    for record in build(Text(id="p", text=text), own_words(), tag, None).records:
        assert (record.text or "").count(MASK) == len(record.labels) > 0


# Segments. A token a character in these; a sentence is ten characters and its point.


def letters(text: str) -> list[tuple[int, int]]:
    return [(place, place + 1) for place in range(len(text))]


SENTENCES = "aaaaaaaaa. " * 20


def test_a_post_within_the_window_stays_whole_whatever_is_between_its_masks() -> None:
    assert segments(SENTENCES, [(0, 1), (200, 201)], letters(SENTENCES), window=500, near=10) == [
        Segment(0, len(SENTENCES), (0, 1))
    ]


def test_masks_near_each_other_share_a_window_around_their_centroid_that_is_clipped_to_sentences() -> None:
    # Centroid 110, window 90 to 130; sentences begin at 99 and end at 120.
    (only,) = segments(SENTENCES, [(105, 106), (115, 116)], letters(SENTENCES), window=40, near=10)
    assert (only.start, only.end, only.masks) == (99, 120, (0, 1))


def test_masks_farther_apart_have_segments_of_their_own_and_no_segment_holds_anothers_mask() -> None:
    found = segments(SENTENCES, [(50, 51), (62, 63), (180, 181)], letters(SENTENCES), window=60, near=11)
    assert [part.masks for part in found] == [(0,), (1,), (2,)]
    for part in found:
        assert sum(part.start <= mask < part.end for mask in (50, 62, 180)) == 1


def test_a_mask_that_the_window_of_its_group_does_not_reach_is_grouped_anew() -> None:
    masks = [(place, place + 1) for place in range(5, 215, 10)]
    found = segments(SENTENCES, masks, letters(SENTENCES), window=60, near=10)
    assert sorted(mask for part in found for mask in part.masks) == list(range(len(masks)))
    assert len(found) > 2


@given(st.sets(st.integers(0, 199), min_size=1, max_size=12), st.integers(2, 90), st.integers(1, 60))
def test_each_mask_stands_in_exactly_one_segment(places: set[int], window: int, near: int) -> None:
    masks = [(place, place + 1) for place in sorted(places)]
    found = segments(SENTENCES, masks, letters(SENTENCES), window, near)
    assert sorted(mask for part in found for mask in part.masks) == list(range(len(masks)))
    for part in found:
        inside = [number for number, (start, end) in enumerate(masks) if part.start <= start and end <= part.end]
        assert tuple(inside) == part.masks


# Files.


def posts(path: Path, *texts: str) -> Path:
    path.write_text("".join(json.dumps({"id": f"p{n}", "text": text}) + "\n" for n, text in enumerate(texts, 1)))
    return path


def test_long_posts_become_segments_that_know_their_post_and_full_posts_stay_whole(
    emotui: Emotui, tmp_path: Path
) -> None:
    file = posts(tmp_path / "p.jsonl", "I feel sad. " + "It rained all day long. " * 200 + "I am angry.", "I am tired.")
    got = emotui("masked", "build", "--posts", file, "--json").document
    assert [(one["id"], one["labels"], one.get("meta")) for one in got["built"]] == [
        ("p1-1", ["sad"], {"post": "p1"}),
        ("p1-2", ["angry"], {"post": "p1"}),
        ("p2", ["tired"], None),
    ]
    assert all(one["text"].endswith(".") and one["text"].count(MASK) == 1 for one in got["built"])
    whole = emotui("masked", "build", "--posts", file, "--full-posts", "--json").document
    assert [one["labels"] for one in whole["built"]] == [["sad", "angry"], ["tired"]]
    assert (whole["posts"], whole["masks"], whole["patterns"]) == (2, 3, {"I feel": 1, "I am": 2, "feeling": 0})


def test_decisions_that_a_person_has_gone_through_count_in_place_of_the_protocol(
    emotui: Emotui, tmp_path: Path
) -> None:
    file = posts(tmp_path / "p.jsonl", "I am not scared. The sad man waved.")
    table = tmp_path / "d.csv"
    built = tmp_path / "b.jsonl"
    assert emotui("masked", "build", "--posts", file, "--to", built, "--decisions", table).status == 0
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [(row["word"], row["masked"], row["review"]) for row in rows] == [
        ("scared", "1", "negated"),
        ("sad", "0", ""),
    ]
    table.write_text("post,start,end,masked\np1,9,15,0\np1,21,24,1\n")
    got = emotui("masked", "build", "--posts", file, "--decided", table, "--json", "--explain").document
    assert [one["text"] for one in got["built"]] == [f"I am not scared. The {MASK} man waved."]
    assert {one["why"] for one in got["decisions"]} == {"decided by a person"}
    table.write_text("post,start,end,masked\np9,9,15,0\np1,9,15,2\n")
    assert emotui("masked", "build", "--posts", file, "--decided", table).err.splitlines() == [
        f"{table}:2: there is no post p9",
        f"{table}:3: masked is 2, not 0 or 1",
    ]


def test_posts_without_text_or_with_a_mask_are_refused_and_those_without_a_match_left_out_by_line(
    emotui: Emotui, tmp_path: Path
) -> None:
    file = posts(tmp_path / "p.jsonl", " ", f"I feel {MASK}.", "I feel sad.", "The shop was shut.")
    refused = emotui("masked", "build", "--posts", file)
    assert refused.status == 2
    assert refused.err.splitlines() == [
        f"{file}:1: this post has no text",
        f"{file}:2: there is a {MASK} in the text already",
    ]
    done = emotui("masked", "build", "--posts", file, "--skip-bad", "--json")
    assert done.status == 0
    assert [one["id"] for one in done.document["built"]] == ["p3"]
    assert done.err.splitlines()[-1] == f"{file}:4: no emotion word that the writer says of themselves, left out"
    none = emotui("masked", "build", "--posts", posts(tmp_path / "n.jsonl", "The shop was shut."))
    assert none.status == 2


def test_own_words_take_the_place_of_the_list_and_every_decision_is_explained(emotui: Emotui, tmp_path: Path) -> None:
    file, words = posts(tmp_path / "p.jsonl", "I feel peckish and sad."), tmp_path / "w.txt"
    words.write_text("peckish\n")
    done = emotui("masked", "build", "--posts", file, "--words", words, "--explain")
    assert "p1 7-14 peckish: masked; I feel, and nothing that blocks in either gap" in done.out
    assert "sad" not in done.out


def test_gold_whose_list_has_another_length_than_its_masks_is_not_scored(emotui: Emotui, tmp_path: Path) -> None:
    gold = tmp_path / "g.jsonl"
    gold.write_text(
        '{"id": "a", "text": "I am <mask>", "labels": ["sad"]}\n{"id": "b", "text": "<mask>", "labels": []}\n'
    )
    done = emotui("score", "masked", "--gold", gold, "--pred", gold)
    assert done.status == 2
    assert done.err.splitlines() == [f"{gold}:2: b: the text has 1 <mask>, but there are 0 words"]


def test_everything_wrong_with_a_file_of_posts_is_told_at_once_in_its_order(emotui: Emotui, tmp_path: Path) -> None:
    lines = ['{"id": "a", "text": "I feel sad."}', '{"id": "b", "text": " "}', '{"id": "c"}', "no JSON"]
    (tmp_path / "p.jsonl").write_text("\n".join([*lines, '{"id": "e", "text": "I feel <mask>."}']))
    done = emotui("masked", "build", "--posts", "p.jsonl")
    assert done.status == 2
    told = done.err.splitlines()
    assert [line.split(": ")[0] for line in told] == [f"p.jsonl:{number}" for number in (2, 3, 4, 5)]
    assert told[0] == "p.jsonl:2: this post has no text"
    assert told[3] == "p.jsonl:5: there is a <mask> in the text already"
    done = emotui("masked", "build", "--posts", "p.jsonl", "--skip-bad")
    assert (done.status, done.err.count("skipped "), done.out.count("\n")) == (0, 4, 1)


def test_gold_with_other_masks_than_words_is_blamed_by_its_own_line_and_left_out_on_demand(
    emotui: Emotui, tmp_path: Path
) -> None:
    (tmp_path / "g.jsonl").write_text(
        '{"id": "a", "labels": ["sad"]}\n{"id": "b", "text": "<mask> <mask>", "labels": ["sad"]}\n'
    )
    (tmp_path / "p.jsonl").write_text('{"id": "b", "labels": ["sad"]}\n{"id": "a", "labels": ["sad"]}\n')
    files = ("--gold", "g.jsonl", "--pred", "p.jsonl")
    why = "g.jsonl:2: b: the text has 2 <mask>, but there are 1 words"
    for command in (("score", "masked"), ("masked", "errors")):
        assert emotui(*command, *files).err.splitlines() == [why]
    done = emotui("score", "masked", *files, "--skip-bad", "--json")
    assert (done.document["n"], f"skipped {why}" in done.err) == (1, True)


def test_the_report_of_a_build_names_quoted_conditional_and_unlisted_words(emotui: Emotui, tmp_path: Path) -> None:
    posts = [
        'I feel sad. She said: "I feel angry about it all."',
        "I feel discombobulatedly odd but I am so happy.",
        "If I feel guilty I call. I would feel sad then. I feel so crummy today.",
    ]
    rows = [json.dumps({"id": str(at), "text": text}) for at, text in enumerate(posts)]
    (tmp_path / "p.jsonl").write_text("\n".join(rows))
    told = emotui("masked", "build", "--posts", "p.jsonl", "--to", "m.jsonl", "--json").document
    assert told["quoted"] == {"angry": 1}
    assert told["conditional"] == {"guilty": 1, "sad": 1}
    assert told["unlisted"] == {"crummy": 1, "odd": 1}


def test_forms_with_their_words_are_looked_for_as_a_list_is(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "a", "text": "I feel the saddest. I feel sad."}))
    (tmp_path / "f.csv").write_text("form,word\nsaddest,sad\n")
    told = emotui("masked", "build", "--posts", "p.jsonl", "--words", "f.csv", "--json").document
    assert [record["labels"] for record in told["built"]] == [["saddest", "sad"]]
