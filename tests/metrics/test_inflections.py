"""Dictionary forms by rule, by hand."""

import pytest

from emotui.metrics.inflections import dictionary_forms


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("cats", ["cat"]),
        ("cries", ["cry", "crie"]),
        ("cried", ["cry", "cri", "crie"]),
        ("happier", ["happy"]),
        ("happiest", ["happy"]),
        ("dies", ["die"]),  # one letter before -ies is too few for -y
        ("tied", ["ti", "tie"]),
        ("boxes", ["box", "boxe"]),
        ("kiss", []),
        ("focus", []),
        ("basis", []),
        ("gas", []),
        ("kissed", ["kiss", "kis"]),
        ("hugged", ["hugg", "hug"]),
        ("seeing", ["see", "seee"]),
        ("scared", ["scare"]),
        ("used", ["use"]),
        ("visited", ["visit", "visite"]),
        ("played", ["play", "playe"]),
        ("showed", ["show", "showe"]),
        ("fixing", ["fix", "fixe"]),
        ("cheered", ["cheer", "cheere"]),
        ("asked", ["ask", "aske"]),
        ("thing", []),
        ("sing", []),
        ("during", []),
        ("joy", []),
    ],
)
def test_the_forms_that_a_word_may_be_an_inflection_of(word: str, forms: list[str]) -> None:
    assert list(dictionary_forms(word)) == forms
