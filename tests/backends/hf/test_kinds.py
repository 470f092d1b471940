"""Encoders and encoder-decoders through the protocol agree with the plain library, one input at a time."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    LlamaForSequenceClassification,
    RobertaForSequenceClassification,
)

from emotui.backends.base import (
    Attribute,
    Classify,
    Embed,
    FillMask,
    Generate,
    Message,
    Rank,
    Refused,
    Regress,
    Score,
)
from emotui.backends.hf import load
from tests.backends.hf import models as hf_models

EMOTIONS = ("joy", "sadness", "fear")
TEXTS = ["i am so very happy", "sad", "the dog ran home and we felt joy today .", "unheard words", ""]


def open_model(folder: Path, **options: object):
    return load(str(folder), {"threads": 1, **options}, lambda _: None)


def with_classes(tmp_path: Path, *, multi: bool = False) -> Path:
    return hf_models.bert(tmp_path / f"classes{multi}", head="classes", labels=EMOTIONS, multi=multi)


def naive_classes(folder: Path, *texts: str) -> torch.Tensor:
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt", return_token_type_ids=True)
    with torch.no_grad():
        return model(**inputs).logits[0]


@pytest.mark.parametrize("multi", [False, True])
def test_a_classifier_gives_its_probabilities_and_its_label(tmp_path: Path, multi: bool) -> None:
    folder = with_classes(tmp_path, multi=multi)
    model = open_model(folder)
    assert model.card.labels == {"labels": EMOTIONS}
    for text, result in zip(TEXTS, model.classify([Classify(text) for text in TEXTS]), strict=True):
        logits = naive_classes(folder, text)
        expected = (logits.sigmoid() if multi else logits.softmax(-1)).tolist()
        assert list(result.probs) == list(EMOTIONS)
        assert list(result.probs.values()) == pytest.approx(expected, abs=1e-5)
        assert result.label == EMOTIONS[int(logits.argmax())]
        assert result.multi_label == multi
        assert not result.truncated


def test_labels_chosen_among_the_models_keep_their_probabilities(tmp_path: Path) -> None:
    model = open_model(with_classes(tmp_path))
    whole, part, strange, no_set = model.classify(
        [
            Classify("i am so happy"),
            Classify("i am so happy", labels=("fear", "joy")),
            Classify("x", labels=("zeal",)),
            Classify("x", label_set="ekman"),
        ]
    )
    assert dict(part.probs) == pytest.approx({label: whole.probs[label] for label in ("fear", "joy")}, abs=1e-6)
    assert strange == Refused("the model has no label 'zeal'; it has: joy, sadness, fear")
    assert no_set == Refused("the model has one label set, 'labels', not 'ekman'")


def test_a_text_longer_than_a_classifier_reads_is_cut_and_marked(tmp_path: Path) -> None:
    folder = with_classes(tmp_path)
    cut, edge, same = open_model(folder).classify(
        [Classify("happy " * 500), Classify("happy " * 62), Classify("happy " * 63)]
    )
    assert (cut.truncated, edge.truncated, same.truncated) == (True, False, True)
    assert cut.probs == pytest.approx(edge.probs, abs=1e-6)


@pytest.mark.parametrize("multi", [False, True])
def test_a_classifiers_log_odds_are_those_of_its_probabilities(tmp_path: Path, multi: bool) -> None:
    model = open_model(with_classes(tmp_path, multi=multi))
    scores, strange = model.score([Score("we felt joy", ("fear", "joy")), Score("x", ("zeal",))])
    probs = model.classify([Classify("we felt joy")])[0].probs
    assert np.exp(scores.yes) == pytest.approx([probs["fear"], probs["joy"]], abs=1e-6)
    assert np.exp(scores.no) == pytest.approx([1 - probs["fear"], 1 - probs["joy"]], abs=1e-6)
    assert scores.mass == (1.0, 1.0)
    assert "no label 'zeal'" in strange.why


@pytest.mark.parametrize("names", [("valence", "arousal"), ("valence",)])
def test_a_regression_head_gives_its_outputs_by_name_as_they_are(tmp_path: Path, names: tuple[str, ...]) -> None:
    folder = hf_models.bert(tmp_path / "numbers", head="classes", labels=names, numbers=True)
    model = open_model(folder)
    assert (model.card.capabilities, model.card.labels) == (("regress", "states"), {"values": names})
    for text, result in zip(TEXTS, model.regress([Regress(text) for text in TEXTS]), strict=True):
        assert list(result.values) == list(names)
        assert list(result.values.values()) == pytest.approx(naive_classes(folder, text).tolist(), abs=1e-5)
    assert model.regress([Regress("joy " * 200)])[0].truncated


def test_a_word_carries_what_the_log_odds_lose_without_it(tmp_path: Path) -> None:
    model = open_model(with_classes(tmp_path))
    text = "i am happy"
    found = model.attribute([Attribute(text, "joy")])[0]
    assert [text[start:end] for start, end, _ in found.words] == ["i", "am", "happy"]

    def odds(of: str) -> float:
        scores = model.score([Score(of, ("joy",))])[0]
        return scores.yes[0] - scores.no[0]

    expected = [odds(text) - odds(text[:start] + text[end:]) for start, end, _ in found.words]
    assert [drop for _, _, drop in found.words] == pytest.approx(expected, abs=1e-4)
    assert model.attribute([Attribute(text)])[0].label == model.classify([Classify(text)])[0].label


@pytest.mark.parametrize("multi", [False, True])
def test_an_nli_model_judges_labels_that_it_never_saw(tmp_path: Path, multi: bool) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("contradiction", "neutral", "entailment"))
    model = open_model(folder, multi_label=multi)
    assert model.card.capabilities == ("classify", "score", "attribute", "states", "push")
    text, labels = "we felt joy", ("joy", "fear", "very sad")
    result = model.classify([Classify("i am sad", labels=("joy",)), Classify(text, labels=labels)])[1]
    logits = torch.stack([naive_classes(folder, text, f"This text expresses {label}.") for label in labels])
    odds = logits[:, 2] - logits[:, 0]
    expected = odds.sigmoid() if multi else logits[:, 2].softmax(0)
    assert list(result.probs.values()) == pytest.approx(expected.tolist(), abs=1e-5)
    scores = model.score([Score(text, labels)])[0]
    assert np.array(scores.yes) - np.array(scores.no) == pytest.approx(odds.numpy(), abs=1e-4)
    assert isinstance(model.classify([Classify(text)])[0], Refused)


@pytest.mark.parametrize("named", [True, False])
def test_a_model_is_told_of_two_texts_only_where_its_tokeniser_names_token_types(tmp_path: Path, named: bool) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("entailment", "neutral", "contradiction"))
    if not named:
        path = folder / "tokenizer_config.json"
        path.write_text(
            json.dumps(json.loads(path.read_text()) | {"model_input_names": ["input_ids", "attention_mask"]})
        )
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer("we felt joy", "This text expresses joy.", return_tensors="pt")
    assert ("token_type_ids" in inputs) is named
    with torch.no_grad():
        logits = AutoModelForSequenceClassification.from_pretrained(folder).eval()(**inputs).logits[0]
    scores = open_model(folder).score([Score("we felt joy", ("joy",))])[0]
    assert scores.yes[0] - scores.no[0] == pytest.approx(float(logits[0] - logits[2]), abs=1e-4)


def test_a_word_carries_what_the_entailment_of_a_label_loses_without_it(tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("entailment", "neutral", "contradiction"))
    model = open_model(folder, hypothesis="The {brace} writer feels {}.")
    text = "we felt joy"
    found, unnamed = model.attribute([Attribute(text, "joy"), Attribute(text)])
    assert isinstance(unnamed, Refused)

    def odds(shorter: str) -> float:
        logits = naive_classes(folder, shorter, "The {brace} writer feels joy.")
        return float(logits[0] - logits[2])

    assert [text[start:end] for start, end, _ in found.words] == ["we", "felt", "joy"]
    expected = [odds(text) - odds(text[:start] + text[end:]) for start, end, _ in found.words]
    assert [drop for _, _, drop in found.words] == pytest.approx(expected, abs=1e-4)


def test_the_hypothesis_is_never_cut(tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("entailment", "neutral", "contradiction"))
    model = open_model(folder)
    long, short = model.classify(
        [Classify("so " * 300, labels=("joy", "fear")), Classify("so", labels=("joy", "fear"))]
    )
    assert long.truncated
    assert not short.truncated
    assert long.probs["joy"] != pytest.approx(long.probs["fear"], abs=1e-6)


@pytest.mark.parametrize("build", [hf_models.bert, hf_models.roberta])
def test_candidates_for_a_mask_have_the_models_probabilities_among_themselves(tmp_path: Path, build) -> None:
    folder = build(tmp_path / "m")
    model = open_model(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    words = ("happy", "sad", "angry")
    tokens = [tokenizer.encode(f" {word}", add_special_tokens=False) for word in words]
    assert {len(each) for each in tokens} == {1}
    text = "i am <mask> and we felt <mask> today"
    filled = model.fill_mask([FillMask(text, words)])[0]
    ids = tokenizer(text.replace("<mask>", tokenizer.mask_token), return_tensors="pt")
    with torch.no_grad():
        logits = plain(**ids).logits[0][ids["input_ids"][0] == tokenizer.mask_token_id]
    assert len(filled.masks) == 2
    for row, mask in zip(logits, filled.masks, strict=True):
        probabilities = row[[each[0] for each in tokens]].softmax(0).tolist()
        expected = sorted(zip(words, probabilities, strict=True), key=lambda pair: -pair[1])
        assert [word for word, _ in mask] == [word for word, _ in expected]
        assert [value for _, value in mask] == pytest.approx([value for _, value in expected], abs=1e-5)


@pytest.mark.parametrize("build", [hf_models.bert, hf_models.roberta])
def test_without_candidates_whole_words_are_ranked(tmp_path: Path, build) -> None:
    model = open_model(build(tmp_path / "m"))
    (mask,) = model.fill_mask([FillMask("i am <mask>", top=5)])[0].masks
    assert len(mask) == 5
    assert all(word.isalpha() for word, _ in mask)
    values = [value for _, value in mask]
    assert values == sorted(values, reverse=True)
    assert 0 < sum(values) <= 1


def test_a_candidate_of_several_tokens_gets_as_many_masks(tmp_path: Path) -> None:
    folder = hf_models.roberta(tmp_path / "m")
    model = open_model(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    words = ("happy", "unheard")
    (_, mask) = model.fill_mask([FillMask("so <mask> and <mask>", words)])[0].masks
    means = []
    for word in words:
        tokens = tokenizer.encode(f" {word}", add_special_tokens=False)
        ids = tokenizer("so<mask> and" + "<mask>" * len(tokens), return_tensors="pt")
        places = (ids["input_ids"][0] == tokenizer.mask_token_id).nonzero()[1:, 0]
        with torch.no_grad():
            logprobs = plain(**ids).logits[0].log_softmax(-1)
        means.append(float(logprobs[places, tokens].mean()))
    expected = torch.tensor(means).softmax(0).tolist()
    assert dict(mask) == pytest.approx(dict(zip(words, expected, strict=True)), abs=1e-5)


def test_masks_that_there_are_not_and_texts_that_are_too_long_are_refused(tmp_path: Path) -> None:
    model = open_model(hf_models.roberta(tmp_path / "m"))
    none, long, fine = model.fill_mask([FillMask("no"), FillMask("x <mask>" + " happy" * 100), FillMask("x <mask>")])
    assert none == Refused("the text has no <mask>")
    assert long.why.endswith("and the model's context holds 62")
    assert len(fine.masks) == 1


def test_embeddings_are_the_mean_of_real_tokens_and_of_length_one(tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "m", head="none")
    model = open_model(folder)
    assert model.card.capabilities == ("embed", "states")
    found = model.embed([Embed(text) for text in TEXTS])
    assert found.dtype == np.float32
    plain, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for text, row in zip(TEXTS, found, strict=True):
        with torch.no_grad():
            mean = plain(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)
        assert row == pytest.approx((mean / mean.norm()).numpy(), abs=1e-5)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-6)


def test_a_masked_model_embeds_too(tmp_path: Path) -> None:
    model = open_model(hf_models.roberta(tmp_path / "m"))
    assert model.card.capabilities == ("fill_mask", "embed", "states")
    assert model.embed([Embed("happy"), Embed("sad")]).shape == (2, 32)


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory):
    folder = hf_models.t5(tmp_path_factory.mktemp("t5") / "m")
    plain = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    return open_model(folder), plain, AutoTokenizer.from_pretrained(folder)


def test_an_encoder_decoder_writes_what_its_own_generate_writes(t5) -> None:
    model, plain, tokenizer = t5
    assert model.card.capabilities == ("generate", "score", "rank", "attribute")
    assert "Context: without a fixed end" in model.card.notes
    written = model.generate([Generate((Message("system", "a"), Message("user", text)), 12) for text in TEXTS])
    for text, each in zip(TEXTS, written, strict=True):
        ids = tokenizer(f"a\n\n{text}", return_tensors="pt")
        out = plain.generate(**ids, max_new_tokens=12, do_sample=False, num_beams=1)[0]
        assert each.text == tokenizer.decode(out, skip_special_tokens=True)
        assert each.prompt_tokens == ids["input_ids"].shape[1]


def test_an_encoder_decoder_answers_yes_or_no_by_its_first_token(t5) -> None:
    model, plain, tokenizer = t5
    requests = [Score(text, ("is it so ?", "no ?")) for text in TEXTS]
    for request, scores in zip(requests, model.score(requests), strict=True):
        for place, question in enumerate(request.questions):
            ids = tokenizer(f"{request.text}\n\n{question}", return_tensors="pt")
            with torch.no_grad():
                logits = plain(**ids, decoder_input_ids=torch.tensor([[0]])).logits[0, -1].log_softmax(-1)
            forms = [tokenizer.encode(form, add_special_tokens=False) for form in ("Yes", " Yes", "yes", " yes")]
            yes = torch.logsumexp(logits[[form[0] for form in forms if len(form) == 1]], 0)
            assert scores.yes[place] == pytest.approx(float(yes), abs=1e-4)


def test_an_encoder_decoder_ranks_by_its_decoder(t5) -> None:
    model, plain, tokenizer = t5
    continuations = ("happy", " sad and angry")
    ranked = model.rank([Rank("we felt", continuations), Rank("x", ()), Rank("so", ("a",))])
    assert isinstance(ranked[1], Refused)
    for place, text in enumerate(continuations):
        tail = tokenizer.encode(text, add_special_tokens=False)
        ids = tokenizer("we felt", return_tensors="pt")
        with torch.no_grad():
            logits = plain(**ids, decoder_input_ids=torch.tensor([[0, *tail[:-1]]])).logits[0].log_softmax(-1)
        expected = logits[torch.arange(len(tail)), torch.tensor(tail)].sum()
        assert ranked[0].logprobs[place] == pytest.approx(float(expected), abs=1e-3)


def test_an_encoder_decoder_goes_on_from_an_opening(t5) -> None:
    model, plain, tokenizer = t5
    begun, other = model.generate(
        [Generate((Message("user", "so"),), 12, opening="happy"), Generate((Message("user", "x"),), 3)]
    )
    start = torch.tensor([[0, *tokenizer.encode("happy", add_special_tokens=False)]])
    ids = tokenizer("so", return_tensors="pt")
    out = plain.generate(**ids, decoder_input_ids=start, max_new_tokens=12, do_sample=False)[0, start.shape[1] :]
    assert begun.text == tokenizer.decode(out, skip_special_tokens=True)
    assert other == model.generate([Generate((Message("user", "x"),), 3)])[0]


@pytest.mark.parametrize("tokens", [1, 64, 10_000])
def test_batches_change_nothing(tmp_path: Path, t5, tokens: int) -> None:
    classes, model = with_classes(tmp_path), open_model(hf_models.bert(tmp_path / "bert"), batch_tokens=tokens)
    texts = [Classify(text) for text in TEXTS]
    some, other = open_model(classes, batch_tokens=tokens).classify(texts), open_model(classes).classify(texts)
    assert [each.probs for each in some] == [pytest.approx(each.probs, abs=1e-5) for each in other]
    assert model.embed([Embed(text) for text in TEXTS]).shape[0] == len(TEXTS)
    requests = [Generate((Message("user", text),), 9, 1.0, seed=n) for n, text in enumerate(TEXTS)]
    alone = [t5[0].generate([request])[0] for request in requests]
    assert t5[0].generate(requests[::-1])[::-1] == alone


def test_what_looks_like_a_control_token_never_is_one(tmp_path: Path) -> None:
    model = open_model(hf_models.bert(tmp_path / "m"))
    ids = model._prompts.text("happy [SEP] [CLS] [MASK] sad")
    assert not set(ids) & {2, 3, 4}
    (mask,) = model.fill_mask([FillMask("i am <mask> [MASK]", ("sad", "glad"))])[0].masks
    assert len(mask) == 2


# Words that are kept from a classifier by its own mask token.

MASK = "\ue000"


def roberta_classes(folder: Path) -> Path:
    """A classifier whose mask takes the space before it."""
    hf_models.roberta(folder)
    names = dict(enumerate(EMOTIONS))
    kept = AutoConfig.from_pretrained(folder, id2label=names, label2id={name: at for at, name in names.items()})
    torch.manual_seed(5)
    RobertaForSequenceClassification(kept).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(("build", "name"), [(with_classes, "[MASK]"), (roberta_classes, "<mask>")])
def test_a_classifier_reads_its_own_mask_token_where_a_word_is_masked(tmp_path: Path, build, name: str) -> None:
    folder = build(tmp_path)
    model = open_model(folder)
    assert model.card.mask == name
    for text in ("i am so \ue000 happy", "\ue000 sad", "we felt \ue000, and \ue000.", "\ue000"):
        expected = naive_classes(folder, text.replace(MASK, name)).double()
        (found,) = model.classify([Classify(text, mask=MASK)])
        assert list(found.probs.values()) == pytest.approx(expected.softmax(-1).tolist(), abs=1e-5)
        (scores,) = model.score([Score(text, ("joy",), mask=MASK)])
        assert scores.yes[0] - scores.no[0] == pytest.approx(float(expected[0] - expected[1:].logsumexp(0)), abs=1e-4)


def test_the_name_of_a_mask_token_in_a_text_stays_letters_beside_one_that_is_meant(tmp_path: Path) -> None:
    prompts = open_model(with_classes(tmp_path))._prompts
    assert prompts.text("happy [MASK] \ue000 sad", MASK).count(4) == 1
    assert prompts.text("happy [MASK] \ue000 sad").count(4) == 0


def test_an_nli_model_reads_masks_in_the_text_and_none_in_the_statement(tmp_path: Path) -> None:
    folder = hf_models.bert(tmp_path / "nli", head="classes", labels=("contradiction", "neutral", "entailment"))
    model = open_model(folder)
    assert model.card.mask == "[MASK]"
    logits = naive_classes(folder, "we felt [MASK] today", "this text expresses joy")
    (found,) = model.score([Score("we felt \ue000 today", ("this text expresses joy",), stated=True, mask=MASK)])
    assert found.yes[0] - found.no[0] == pytest.approx(float(logits[2] - logits[0]), abs=1e-4)


def test_a_classifier_that_never_learnt_to_read_a_mask_has_none(tmp_path: Path) -> None:
    folder = hf_models.llama(tmp_path / "llama")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"mask_token": "<mask>", "pad_token": "<pad>"})
    tokenizer.save_pretrained(folder)
    kept = AutoConfig.from_pretrained(folder, num_labels=3, vocab_size=len(tokenizer), pad_token_id=0)
    LlamaForSequenceClassification(kept).save_pretrained(folder)
    model = open_model(folder)
    assert "classify" in model.card.capabilities
    assert model.card.mask is None
