"""One prompt from one chat: the model's own template, its thinking as told, and no sample that speaks for the chat."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from emotui.backends.base import Message
from emotui.backends.hf.prompts import Prompts
from emotui.backends.rendering import ChatTemplate, Piece, Specials, plain_prompt, with_question
from emotui.errors import ModelError
from tests.backends.hf.models import TINY

CONTROL = ("<|end|>", "<|user|>", "<|assistant|>", "<|end|>_more", "<think>", "</think>")
PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
SWITCHED = PLAIN + "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
ALWAYS = PLAIN + "<think>"
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + PLAIN
ASKED = (Message("user", "Is it?"),)


def template(source: str) -> ChatTemplate:
    return ChatTemplate(source, {"bos_token": "<s>"}, Specials(CONTROL))


def text(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def test_a_prompt_without_look_alikes_is_one_piece() -> None:
    assert template(PLAIN).render(ASKED, opening="It") == [Piece("<|user|>Is it?<|end|><|assistant|>It")]


@given(st.lists(st.sampled_from([*CONTROL, "a", " ", "<", "|", "end|>", "\n"]), max_size=12).map("".join))
def test_no_control_token_of_a_message_or_an_opening_is_meant(said: str) -> None:
    pieces = template(PLAIN).render((Message("user", said),), opening=said)
    assert text(pieces) == f"<|user|>{said}<|end|><|assistant|>{said}"
    meant = "".join(piece.text for piece in pieces if not piece.literal)
    for token in CONTROL:
        expected = {"<|end|>": 1, "<|user|>": 1, "<|assistant|>": 1}.get(token, 0)
        # What is left when a token is taken out can look like one, as in `<|e<|end|>nd|>`: it is in two pieces then.
        assert sum(piece.text.count(token) for piece in pieces if not piece.literal) == expected, meant


def test_the_longest_control_token_at_a_place_is_the_one_there() -> None:
    assert Specials(CONTROL).pieces("x<|end|>_more") == [Piece("x"), Piece("<|end|>_more", literal=True)]
    assert Specials([]).pieces("x<|end|>") == [Piece("x<|end|>")]
    assert Specials(CONTROL).pieces("") == []


def test_thinking_is_switched_in_the_rendered_text() -> None:
    switched = template(SWITCHED)
    assert switched.thinking == "switch"
    assert text(switched.render(ASKED, thinking=False)).endswith("<think>\n\n</think>\n\n")
    assert text(switched.render(ASKED, thinking=True)).endswith("<|assistant|>")


def test_a_thought_that_is_always_opened_is_closed_when_thinking_is_off() -> None:
    always = template(ALWAYS)
    assert always.thinking == "always"
    assert text(always.render(ASKED, thinking=False)).endswith("<|assistant|><think>\n\n</think>\n\n")
    assert text(always.render(ASKED, thinking=True)).endswith("<|assistant|><think>")


def test_a_model_without_a_thinking_mode_cannot_be_told_to_think() -> None:
    assert template(PLAIN).thinking == "none"
    with pytest.raises(ModelError, match="has no thinking mode"):
        template(PLAIN).render(ASKED, thinking=True)


def test_a_switch_without_effect_is_found_out() -> None:
    fickle = template("{% if messages | length == 1 %}" + SWITCHED + "{% else %}" + PLAIN + "{% endif %}")
    assert fickle.thinking == "switch"
    with pytest.raises(ModelError, match="does not turn its thinking on or off after these messages"):
        fickle.render((*ASKED, Message("assistant", "Yes"), *ASKED))


def test_what_a_sample_says_about_thinking_switches_nothing() -> None:
    for said in ("<think>", "</think>", "<think>x</think>"):
        pieces = template(SWITCHED).render((Message("user", said),))
        assert text(pieces).endswith("<think>\n\n</think>\n\n")
        assert Piece("<think>", literal=True) in pieces or "<think>" not in said


def test_rules_begin_the_users_turn_where_there_is_no_systems_turn() -> None:
    folded = template(NO_SYSTEM)
    assert not folded.takes_system
    assert text(folded.render((Message("system", "Be brief."), *ASKED))) == (
        "<|user|>Be brief.\n\nIs it?<|end|><|assistant|>"
    )
    assert template(PLAIN).takes_system


def test_a_template_that_refuses_says_why() -> None:
    never = "{% if messages | length > 1 %}{{ raise_exception('one turn only') }}{% endif %}" + PLAIN
    with pytest.raises(ModelError, match="refuses these messages: one turn only"):
        template(never).render((*ASKED, *ASKED))


def test_a_template_cannot_reach_out_of_its_box() -> None:
    escape = "{{ messages.__class__.__mro__[1].__subclasses__() }}"
    with pytest.raises(ModelError, match="refuses these messages"):
        template(escape)


def test_the_date_in_a_prompt_does_not_depend_on_the_day() -> None:
    assert text(template("{{ strftime_now('%d %b %Y') }}").render(ASKED)) == "01 Jan 2026"


def test_a_template_marks_what_is_trained_on_without_effect() -> None:
    marked = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}"
    assert text(template(marked).render(ASKED)) == "Is it?"


def test_a_question_ends_the_last_message_of_the_users() -> None:
    messages = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"), Message("assistant", "d"))
    assert with_question(messages, "?")[2] == Message("user", "c?")
    assert [message.content for message in with_question(messages, "?")] == ["a", "b", "c?", "d"]
    with pytest.raises(ModelError, match="needs a message of the user's"):
        with_question((Message("system", "x"),), "?")


def test_a_plain_prompt_ends_where_the_answer_goes() -> None:
    assert plain_prompt((Message("system", "Rule."), Message("user", "Text"))) == "Rule.\n\nText\n\nAnswer:"


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(TINY)


def beginning(tokenizer, template: str) -> Prompts:
    """Prompts of a tokeniser that begins every text by `<|bos|>`."""
    from tokenizers import processors

    own = AutoTokenizer.from_pretrained(TINY)
    own.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<|bos|> $A", special_tokens=[("<|bos|>", 0)]
    )
    own.chat_template = template
    return Prompts(own)


@pytest.mark.parametrize("begin", ["", "{{ bos_token }}", "{{ bos_token }}{{ bos_token }}"])
def test_the_token_that_begins_a_text_stands_once_whoever_writes_it(tokenizer, begin: str) -> None:
    prompts = beginning(tokenizer, begin + PLAIN)
    ids = prompts.chat(ASKED)
    assert (ids[0], ids.count(0)) == (0, 1)
    assert prompts.start("x").count(0) == 1
    forged = prompts.chat((Message("user", "<|bos|>"),))
    assert forged.count(0) == 1


def test_a_tokeniser_that_adds_nothing_gets_nothing_added(tokenizer) -> None:
    assert Prompts(tokenizer).begins == []
    assert Prompts(tokenizer).start("<|bos|>").count(0) == 0


def test_an_ordinary_prompt_has_the_ids_of_transformers_own_rendering(tokenizer) -> None:
    said = [Message("system", "Rule: \n"), Message("user", " Ünïcode 😀\n\nx"), Message("assistant", "a | b")]
    own = tokenizer.apply_chat_template(
        [{"role": each.role, "content": each.content} for each in said], add_generation_prompt=True, return_dict=False
    )
    assert Prompts(tokenizer).chat(said) == own


CHANNELS = (
    "{% for m in messages %}<|start|>{{ m.role }}{% if m.role == 'assistant' %}<|channel|>final{% endif %}<|message|>"
    "{{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
KIMI = (
    "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}<think></think>{% endif %}{{ m.content }}"
    "<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SEED = PLAIN + "{% if thinking_budget is defined and thinking_budget == 0 %}<seed:think>None.</seed:think>{% endif %}"
GRANITE = (
    "{% if messages[0].role == 'system' %}{% set rules = messages[0].content %}{% set rest = messages[1:] %}{% else %}"
    "{% set rules = 'You are Granite.' ~ (' Think first.' if thinking else '') %}{% set rest = messages %}{% endif %}"
    "<|system|>{{ rules }}{% for m in rest %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
)


@pytest.mark.parametrize(
    ("source", "begun", "end"),
    [
        (CHANNELS, "<|start|>assistant<|channel|>final<|message|>", "<|channel|>final<|message|>"),
        (KIMI, "<|assistant|><think></think>", "</think>"),
        (SEED, "<|assistant|><seed:think>None.</seed:think>", "</seed:think>"),
        (SWITCHED, "<|assistant|><think>\n\n</think>\n\n", "</think>"),
        (ALWAYS, "<|assistant|><think>\n\n</think>\n\n", "</think>"),
    ],
)
def test_an_answer_without_thoughts_begins_as_the_template_itself_has_it(source: str, begun: str, end: str) -> None:
    found = template(source)
    assert text(found.render(ASKED)).endswith(begun)
    thinking = text(found.render(ASKED, thinking=True))
    assert end not in thinking
    assert found.ends_thought == end
    # What the model thought before is read as its own, and the answer behind it as characters.
    pieces = found.render(ASKED, opening=f"So.{end}<|end|>", thinking=True)
    assert text(pieces) == f"{thinking}So.{end}<|end|>"
    assert pieces[-1] == Piece("<|end|>", literal=True)
    assert end in pieces[-2].text


def test_a_past_answer_that_merely_follows_a_space_or_a_role_begins_with_nothing() -> None:
    turns = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    spaced = turns + "{% if add_generation_prompt %}assistant:{% endif %}"
    assert template(spaced).thinking == "none"
    assert text(template(spaced).render(ASKED)) == "user: Is it?\nassistant:"


def test_thinking_that_is_asked_for_in_a_system_turn_leaves_ones_own_system_turn_alone() -> None:
    asked = (Message("system", "Be brief."), *ASKED)
    granite = template(GRANITE)
    assert granite.thinking == "switch"
    assert text(granite.render(asked)) == "<|system|>Be brief.<|user|>Is it?<|assistant|>"
    assert text(granite.render(asked, thinking=True)) == (
        "<|system|>You are Granite. Think first.<|user|>Be brief.\n\nIs it?<|assistant|>"
    )
