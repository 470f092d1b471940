"""Token classifiers and question answering mark spans at the right places of the text."""

from itertools import pairwise
from pathlib import Path

import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers import models as tokenizer_models
from transformers import (
    AutoModelForTokenClassification,
    AutoTokenizer,
    PreTrainedTokenizerFast,
    TokenClassificationPipeline,
)

from emotui.backends.base import Backend, Evidence, Extract, Refused
from emotui.backends.hf import load
from emotui.backends.hf.prompts import Prompts
from emotui.backends.hf.span_models import goes_on, read_tokens, word_places
from emotui.errors import BadModel, ModelError
from tests.backends.hf import span_models

BIO = ("O", "B-joy", "I-joy", "B-fear", "I-fear")
TOLD = {"happy": "B-joy", "glad": "I-joy", "fear": "B-fear", "😀": "B-joy", "cafe": "B-fear", "un": "B-joy"}


def open_model(folder: Path, **options: object) -> Backend:
    return load(str(folder), {"threads": 1, **options}, lambda _: None)


def marked(model: Backend, *texts: str) -> list[list[tuple[str, str]]]:
    """The words of each span, and its label."""
    return [
        [(text[one.start : one.end], one.label) for one in found]
        for text, found in zip(texts, model.extract([Extract(text) for text in texts]), strict=True)
    ]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return span_models.telling_tagger(tmp_path_factory.mktemp("m") / "tags", BIO, TOLD)


def test_a_token_classifier_says_what_it_can_and_its_labels(tagger: Path) -> None:
    card = open_model(tagger).card
    assert card.capabilities == ("extract", "states")
    assert card.labels == {"spans": ("joy", "fear")}


def test_spans_stand_where_the_text_has_them_whatever_stands_before(tagger: Path) -> None:
    assert marked(
        open_model(tagger),
        "i am happy glad today",
        "👩‍👩‍👧 e\u0301t\u00e9 … Happy, glad!",
        "😀 and the caf\u00e9, the cafe\u0301.",
        "[SEP] happy [CLS]",
        "  happy\n\nglad  ",
        "",
        " \n",
    ) == [
        [("happy glad", "joy")],
        [("Happy", "joy"), ("glad", "joy")],
        [("😀", "joy"), ("caf\u00e9", "fear"), ("cafe\u0301", "fear")],
        [("happy", "joy")],
        [("happy\n\nglad", "joy")],
        [],
        [],
    ]


def test_a_word_has_the_tag_of_its_first_piece_or_as_it_is_told(tagger: Path) -> None:
    text = "unfear happys"
    assert marked(open_model(tagger), text) == [[("happys", "joy")]]  # `unfear` is no word of the vocabulary
    assert marked(open_model(tagger, aggregation="max"), text) == [[("happys", "joy")]]


def test_a_span_goes_on_across_the_edges_of_windows(tmp_path: Path) -> None:
    folder = span_models.telling_tagger(tmp_path, BIO, TOLD, longest=10)
    text = " ".join(["dog"] * 9 + ["happy"] + ["glad"] * 25 + ["dog"] * 9 + ["fear"])
    assert marked(open_model(folder), text) == [[(" ".join(["happy"] + ["glad"] * 25), "joy"), ("fear", "fear")]]


def test_a_text_is_marked_alike_alone_and_in_a_batch(tmp_path: Path) -> None:
    folder = span_models.random_tagger(tmp_path, BIO)
    texts = ["i am so very happy", "sad .", "the dog ran home and we felt joy today . " * 9, "", "unheard words"]
    model, small = open_model(folder), open_model(folder, batch_tokens=1)
    together = model.extract([Extract(text) for text in texts])
    for text, found in zip(texts, together, strict=True):
        (alone,) = small.extract([Extract(text)])
        assert [(one.start, one.end, one.label) for one in alone] == [(o.start, o.end, o.label) for o in found]
        assert [one.strength for one in alone] == pytest.approx([one.strength for one in found], abs=1e-5)


@pytest.mark.parametrize("aggregation", ["first", "average", "max"])
def test_spans_and_strengths_are_those_of_the_librarys_pipeline(tmp_path: Path, aggregation: str) -> None:
    folder = span_models.random_tagger(tmp_path, BIO)
    pipeline = TokenClassificationPipeline(
        model=AutoModelForTokenClassification.from_pretrained(folder),
        tokenizer=AutoTokenizer.from_pretrained(folder),
        aggregation_strategy=aggregation,
        device=-1,
    )
    model = open_model(folder, aggregation=aggregation)
    for text in (
        "i am so very happy sad angry glads .",
        "the dogs ran home and we felt joy , fear todays !",
        "dogs no",
    ):
        found = model.extract([Extract(text)])[0]
        expected = pipeline(text)
        assert [(one.start, one.end, one.label) for one in found] == [
            (one["start"], one["end"], one["entity_group"]) for one in expected
        ]
        assert [one.strength for one in found] == pytest.approx([one["score"] for one in expected], abs=1e-5)


def test_no_span_begins_or_ends_within_a_sign(tmp_path: Path) -> None:
    model = open_model(span_models.random_bytes_tagger(tmp_path, BIO))
    text = "i felt 😀joy today é👍🏽 e\u0301 \u00e9\u00e9 we ran 👩‍👩‍👧 home " * 8
    (found,) = model.extract([Extract(text)])
    assert found
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert text[one.start : one.end].strip() == text[one.start : one.end]
        assert not goes_on(text, one.start)
        assert not goes_on(text, one.end)
        assert 0.0 <= one.strength <= 1.0
    assert all(before.end <= after.start for before, after in pairwise(found))


def test_the_tags_of_no_span_can_be_told(tmp_path: Path) -> None:
    folder = span_models.telling_tagger(tmp_path, ("rest", "joy"), {"happy": "joy", "glad": "joy"})
    assert marked(open_model(folder, outside="rest"), "so happy glad dog") == [[("happy glad", "joy")]]
    assert marked(open_model(folder), "so happy")[0] == [("so", "rest"), ("happy", "joy")]
    with pytest.raises(BadModel, match="option outside names 'O'; the model's tags are: rest, joy"):
        open_model(folder, outside="O")


def test_a_reader_gives_the_best_passage_with_its_probability(tmp_path: Path) -> None:
    folder = span_models.telling_reader(tmp_path, {"happy": 2.0, "sad": 1.0}, {"glad": 2.0, "home": 1.0})
    model = open_model(folder)
    assert model.card.capabilities == ("extract", "states")
    assert marked(model, "I am HAPPY, and glad today.", "sad dog ran home", "") == [
        [("HAPPY, and glad", "")],
        [("sad dog ran home", "")],
        [],
    ]
    (found,) = model.extract([Extract("so happy")])
    assert [type(one) for one in found] == [Evidence]
    assert 0 < found[0].strength < 1


def test_a_reader_says_nothing_where_no_answer_is_likelier(tmp_path: Path) -> None:
    starts, ends = {"happy": 2.0, "[CLS]": 1.0}, {"glad": 2.0, "[CLS]": 1.0}
    folder = span_models.telling_reader(tmp_path, starts, ends)
    assert marked(open_model(folder), "happy and glad", "the dog ran") == [[("happy and glad", "")], []]
    assert len(marked(open_model(folder, no_answer=False), "the dog ran")[0]) == 1


def test_a_reader_reads_long_texts_in_windows(tmp_path: Path) -> None:
    folder = span_models.telling_reader(tmp_path, {"happy": 2.0}, {"glad": 2.0}, longest=24)
    for before in (0, 7, 19, 40, 61):
        text = "dog " * before + "happy and glad" + " dog" * 30
        assert marked(open_model(folder), text) == [[("happy and glad", "")]]


def test_a_question_of_ones_own_and_one_that_leaves_no_room(tmp_path: Path) -> None:
    folder = span_models.telling_reader(tmp_path, {"happy": 2.0}, {"glad": 2.0}, longest=24)
    one, other = open_model(folder), open_model(folder, question="happy?")
    assert one.card.identity != other.card.identity
    assert marked(other, "the dog is happy and glad") == [[("happy and glad", "")]]
    (refused,) = open_model(folder, question="dog " * 30).extract([Extract("happy")])
    assert isinstance(refused, Refused)
    assert "question leaves no room" in refused.why
    with pytest.raises(BadModel, match="option question is empty"):
        open_model(folder, question=" ")


def test_a_tokeniser_without_places_is_refused(tagger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PreTrainedTokenizerFast, "is_fast", property(lambda self: False))
    with pytest.raises(ModelError, match=r"needs tokenizer\.json"):
        open_model(tagger)


@pytest.mark.parametrize("split", [True, False])
def test_words_of_a_sentencepiece_tokeniser_end_at_white_space(split: bool) -> None:
    bare = Tokenizer(tokenizer_models.Unigram([("<unk>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in "abcé")], 0))
    bare.normalizer = normalizers.NFKC()
    bare.pre_tokenizer = pre_tokenizers.Metaspace(split=split)
    prompts = Prompts(PreTrainedTokenizerFast(tokenizer_object=bare, unk_token="<unk>", eos_token="</s>"))
    text = "  ab 😀 cae\u0301 ﬁ </s> b  a\nc"
    tokens = read_tokens(prompts, text)
    words = [text[tokens[word[0]].start : tokens[word[-1]].end] for word in word_places(tokens)]
    assert words == ["ab", "😀", "cae\u0301", "ﬁ", "</s>", "b", "a", "c"]
