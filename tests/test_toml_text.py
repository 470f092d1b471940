"""A file in TOML says what it says, or is refused in one line: also what Python's reader does not refuse as TOML."""

from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.tasks.labels.files import read_thresholds
from emotui.toml_text import parse_toml
from tests.mutations import LONG_NUMBER


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1\nb = {\n", "p.toml:2: this is no TOML: "),
        ("\n[a\n", "p.toml:2: this is no TOML: "),
        ('a = "x', "p.toml:1: this is no TOML: "),
        (f"a = {LONG_NUMBER}", "p.toml: this is no TOML: a whole number in it has more than 64 bits"),
        ("a = [{b = 0x" + "f" * 9000 + "}]", "p.toml: this is no TOML: a whole number in it has more than 64 bits"),
        ("a = " + "[" * 100_000, "p.toml: this is no TOML that can be read: it is nested too deeply"),
        ("a" + ".a" * 100_000 + " = 1", "p.toml: this is no TOML that can be read: a key has thousands of dots"),
        (
            ("a" + '."a"' * 900 + " = 1\n") * 100,
            "p.toml: this is no TOML that can be read: a key has thousands of dots",
        ),
    ],
    ids=["end", "table", "string", "digits", "hexadecimal", "nested", "one key", "many keys"],
)
def test_what_cannot_be_read_is_one_line(text: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_toml("p.toml", text)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_dots_of_prose_and_whole_numbers_of_64_bits_are_read() -> None:
    text = 'a = """' + "so. it. goes. " * 5000 + f'"""\nb = {2**63 - 1}\nc.d.e = -{2**63}'
    assert parse_toml("p.toml", text)["b"] == 2**63 - 1


def test_a_threshold_of_5000_digits_is_refused_in_either_format(tmp_path: Path) -> None:
    for name, text in (("t.toml", f"joy = {LONG_NUMBER}"), ("t.json", f'{{"joy": {LONG_NUMBER}}}')):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(BadInput):
            read_thresholds(str(path))
