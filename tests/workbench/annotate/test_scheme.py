import json
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.screens.annotate.entry import reserved
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.scheme import (
    BUILT_IN,
    FURTHER,
    Group,
    Label,
    Scale,
    Scheme,
    built_in,
    check_keys,
    read_scheme,
    scheme_of,
    with_colours,
    with_keys,
    with_own_labels,
)
from tests.conftest import Emotui
from tests.workbench.annotate.small_sets import store_with

GOOD = """name = "mine"
tasks = ["spans"]
spans = true
guidelines = "mine.md"

[[groups]]
name = "label"
labels = [
  { name = "joy", key = "j", colour = "yellow" },
  { name = "fear", key = "f" },
]

[[groups]]
name = "valence"
of = "sentence"
required = true
labels = ["positive", "negative"]
"""


def written(tmp_path: Path, text: str) -> str:
    (tmp_path / "mine.md").write_text("# Mark joy.\n", encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_scheme_is_read_with_its_guidelines(tmp_path: Path) -> None:
    scheme = read_scheme(written(tmp_path, GOOD))
    assert scheme.guidelines == "# Mark joy.\n"
    assert [group.names for group in scheme.groups] == [("joy", "fear"), ("positive", "negative")]
    assert scheme.groups[1].required
    assert scheme.span_labels == scheme.groups[0]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('colour = "yellow"', 'colour = "beige"', "mine.toml:9: no colour 'beige'"),
        ('name = "fear", key = "f"', 'name = "joy"', "mine.toml:9: 'joy' stands twice"),
        ('key = "f"', 'key = "j"', "mine.toml:10: the key 'j' of label: fear is that of label: joy already"),
        ('of = "sentence"', 'of = "page"', "mine.toml:13: of = 'page'"),
        ('name = "valence"', 'name = "mood"', "mine.toml:13: a sentence has an emotion and a valence, and no 'mood'"),
        ('labels = ["positive", "negative"]', "", "mine.toml:13: 'valence' has neither labels nor a scale"),
        ("required = true", "exclusive = false", "mine.toml:13: 'valence': a sentence has one label"),
        ("required = true", "needed = true", "mine.toml:13: no key 'needed'"),
        ("required = true", 'required = "yes"', "mine.toml:13: required should be true or false"),
        ("spans = true", "spans = false", "mine.toml:6: 'label' is about spans, and spans = false"),
        ('name = "mine"', 'names = "mine"', "mine.toml:1: no key 'names'"),
        ('name = "mine"', 'name = "mine', "mine.toml:1: this is no TOML"),
        ("mine.md", "other.md", "other.md: cannot be read"),
        (
            'of = "sentence"',
            'of = "text"\nscale = { minimum = 1 }',
            "mine.toml:13: 'valence' has both labels and a scale",
        ),
    ],
)
def test_what_is_wrong_with_a_scheme_is_named_with_its_line(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in GOOD
    with pytest.raises(BadInput) as refused:
        read_scheme(written(tmp_path, GOOD.replace(old, new)))
    assert fault in str(refused.value)


def test_a_key_of_the_place_is_refused_with_what_it_does_there(tmp_path: Path) -> None:
    scheme = read_scheme(written(tmp_path, GOOD))
    check_keys(scheme, {"u": "undo"})
    with pytest.raises(BadInput, match=r"mine.toml:9: the key 'j' of label: joy is the place's own, for next sample"):
        check_keys(scheme, {"j": "next sample"})


def test_labels_without_a_key_get_a_capital_of_their_name_that_is_free() -> None:
    labels = tuple(Label(name=name) for name in ("joy", "jealousy", "fear"))
    scheme = with_keys(Scheme(name="s", groups=(Group(name="label", labels=labels),)), reserved=("J", "F"))
    assert [label.key for label in scheme.groups[0].labels] == ["O", "E", "A"]


def test_a_key_that_is_dealt_is_that_of_nothing_else_in_the_scheme() -> None:
    groups = (
        Group(name="label", labels=(Label(name="joy"), Label(name="fear", key="A"))),
        Group(name="valence", of="sentence", labels=(Label(name="jubilant"), Label(name="flat"))),
        Group(name="arousal", of="text", scale=Scale(minimum=1, maximum=9)),
    )
    dealt = with_keys(Scheme(name="s", spans=True, groups=groups))
    assert [[key for key, _, _ in dealt.keys_of(unit)] for unit in ("span", "sentence", "text")] == [
        ["J", "A"],
        ["U", "F"],
        ["R"],
    ]


def test_a_key_of_a_sentence_is_no_key_of_the_text_for_both_hold_while_no_span_is_chosen() -> None:
    groups = (
        Group(name="valence", of="sentence", labels=(Label(name="joyful", key="J"),)),
        Group(name="topic", of="text", labels=(Label(name="job", key="J"),)),
    )
    with pytest.raises(BadInput, match=r"the key 'J' of topic: job is that of valence: joyful already"):
        check_keys(Scheme(name="s", groups=groups))


def test_a_check_tells_keys_that_mean_two_things_and_those_of_the_place(emotui: Emotui, tmp_path: Path) -> None:
    text = (
        'name = "m"\nspans = true\n[[groups]]\nname = "cue"\nlabels = [{ name = "joy", key = "J" }]\n'
        '[[groups]]\nname = "topic"\nof = "text"\nlabels = [{ name = "job", key = "J" }]\n'
    )
    file = tmp_path / "m.toml"
    file.write_text(text)
    done = emotui("annotate", "scheme", "check", file)
    assert done.status == 0
    assert done.err == f"{file}: the key 'J' sets cue: joy while a span is selected or chosen, and topic: job else\n"
    file.write_text(text.replace('"J"', '"u"'))
    refused = emotui("annotate", "scheme", "check", file)
    assert refused.status == 0
    assert f"{file}:5: the key 'u' of cue: joy is the place's own, for undo" in refused.err


def test_where_there_are_more_labels_than_keys_the_last_stay_without_one() -> None:
    labels = tuple(Label(name=f"label {n}") for n in range(80))
    keys = [
        label.key for label in with_keys(Scheme(name="s", groups=(Group(name="g", labels=labels),))).groups[0].labels
    ]
    given = [key for key in keys if key]
    assert len(given) == len(set(given)) == 62
    assert keys[62:] == [""] * 18


def test_a_group_takes_the_labels_of_the_dataset_and_keeps_what_it_says_of_those_it_knows() -> None:
    group = Group(name="labels", of="text", own=True, labels=(Label(name="joy", key="y"), Label(name="fear")))
    scheme = with_own_labels(Scheme(name="s", groups=(group,)), (), ("calm", "joy"))
    assert [(label.name, label.key) for label in scheme.groups[0].labels] == [("calm", ""), ("joy", "y")]
    assert with_own_labels(Scheme(name="s", groups=(group,)), (), ()).groups[0].names == ("joy", "fear")


def test_a_label_without_a_colour_gets_that_of_its_emotion_or_one_that_no_other_has() -> None:
    labels = (Label(name="Anger"), Label(name="calm"), Label(name="joy", colour="grey"), Label(name="awe"))
    coloured = with_colours(Scheme(name="s", groups=(Group(name="g", labels=labels),))).groups[0].labels
    assert [label.colour for label in coloured] == ["red", "orange", "grey", "yellow"]


@pytest.mark.parametrize("name", ["other", "Other", "neutral", "none", "unclear", "mixed"])
def test_a_label_that_is_no_emotion_is_grey_and_never_in_the_colour_of_anger(name: str) -> None:
    names = ("anger", "joy", "fear", "sadness", name)
    labels = tuple(Label(name=one) for one in names)
    (group,) = with_colours(Scheme(name="s", groups=(Group(name="g", labels=labels),))).groups
    colours = {label.name: label.colour for label in group.labels}
    assert colours[name] == "grey"
    assert [one for one, colour in colours.items() if colour == "grey"] == [name]


@pytest.mark.parametrize("name", [*dict.fromkeys(BUILT_IN.values()), *FURTHER])
def test_every_built_in_scheme_has_guidelines_and_keys_that_do_not_clash(name: str) -> None:
    scheme = built_in(name)
    assert scheme.guidelines.startswith("# ")
    check_keys(scheme, reserved())
    assert all(label.key and label.colour for group in scheme.groups for label in group.labels)


@pytest.mark.parametrize(("name", "wrong"), [("nothing", "nothing"), ("spans+nothing", "nothing")])
def test_of_names_the_one_that_no_scheme_has_is_told(name: str, wrong: str) -> None:
    with pytest.raises(BadInput, match=rf"^there is no scheme '{wrong}': .* spans, "):
        scheme_of(name)


@pytest.mark.parametrize("name", ["mine+yours.toml", "folder/mine"])
def test_what_looks_like_a_file_is_looked_for_as_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        scheme_of(str(tmp_path / name))


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("spans = true\n", "spans are marked, and there may always be one more"),
        ('[[groups]]\nname = "g"\nof = "text"\nexclusive = false\nlabels = ["a"]\n', "may have several labels of 'g'"),
    ],
)
def test_an_answer_that_is_never_known_to_be_whole_is_not_given_by_itself(tmp_path: Path, rest: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        read_scheme(written(tmp_path, f'name = "mine"\nauto_accept = true\n{rest}'))


def test_numbers_outside_the_built_in_scales_have_scales_of_their_own(emotui: Emotui, tmp_path: Path) -> None:
    def written_as(name: str, *values: dict[str, float]) -> str:
        lines = [json.dumps({"id": str(n), "text": f"Rain {n}.", "values": one}) for n, one in enumerate(values)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
        assert emotui("import", f"{name}.jsonl", "--as", "values", "--name", name, "--db", "w.duckdb").status == 0
        groups = emotui("annotate", "scheme", "show", name, "--db", "w.duckdb", "--json").document["groups"]
        return "; ".join(f"{one['name']} {_scale(one['scale'])}" for one in groups)

    assert written_as("inside", {"valence": 3.5}, {"arousal": 9}) == "valence 1-9/1; arousal 1-9/1; dominance 1-9/1"
    assert written_as("intensities", {"joy": 0, "fear": 3}, {"joy": 2, "fear": 0}) == "joy 0-2/1; fear 0-3/1"
    assert written_as("shares", {"joy": 0.2}, {"joy": 0.85}) == "joy 0-1/0.1"
    assert written_as("wide", {"valence": -40.0}, {"valence": 61.5}) == "valence -40-62/1"


def _scale(scale: dict[str, float]) -> str:
    return f"{scale['minimum']:g}-{scale['maximum']:g}/{scale.get('step', 1):g}"


def test_use_prints_the_datasets_own_labels(emotui: Emotui, tmp_path: Path) -> None:
    lines = [json.dumps({"id": one, "text": f"Rain {one}.", "label": one}) for one in ("calm", "awe")]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    assert emotui("import", "in.jsonl", "--name", "mine", "--db", "w.duckdb").status == 0
    used = emotui("annotate", "scheme", "use", "mine", "labels", "--db", "w.duckdb", "--json").document
    assert [label["name"] for label in used["groups"][0]["labels"]] == ["awe", "calm"]
    assert used == emotui("annotate", "scheme", "show", "mine", "--db", "w.duckdb", "--json").document


CLASHING = """name = "mine"
tasks = ["spans"]

[[groups]]
name = "label"
labels = [
  { name = "joy", key = "," },
  { name = "awe", key = "H" },
  { name = "fear", key = "$" },
  { name = "shame", key = "j" },
]

[[groups]]
name = "arousal"
of = "text"
key = "&"
scale = { minimum = 1, maximum = 9 }
"""


def test_keys_that_are_the_place_s_by_now_are_dealt_anew_and_told_once(tmp_path: Path) -> None:
    desk = Desk(store_with(tmp_path / "w.duckdb", "spans"))
    desk.keep_scheme("spans", written(tmp_path, CLASHING))
    work = desk.begin("spans", "ann", reserved=reserved())
    keys = {what: key for unit in ("span", "text") for key, what, _ in work.scheme.keys_of(unit)}
    assert keys["label: awe"] == "H", "labels come before the next error of a kind"
    assert not {*keys.values()} & {*reserved()}
    assert len({*keys.values()}) == len(keys) == 5
    assert work.moved_keys == tuple(
        f"{name} is on {keys[what]}, no longer on {old}"
        for name, what, old in (
            ("joy", "label: joy", ","),
            ("fear", "label: fear", "$"),
            ("shame", "label: shame", "j"),
            ("arousal", "arousal", "&"),
        )
    )
    assert desk.begin("spans", "ann", reserved=reserved()).moved_keys == ()
    assert desk.begin("spans", "ben", reserved=reserved()).scheme == work.scheme


def test_labels_have_the_keys_of_the_next_error_of_a_kind() -> None:
    assert not {*"HFNMXL"} & {*reserved()}
