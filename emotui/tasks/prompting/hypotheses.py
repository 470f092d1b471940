"""What an NLI model judges: a statement about a text, made from a template for each label."""

from collections.abc import Mapping

from emotui.errors import BadInput
from emotui.tasks.prompting.files import Places, Prompt, Prompts, filled

NLI = "nli"
"""The way of asking: does the text entail the statement, or contradict it?"""


def hypothesis_places(label: str) -> Places:
    """A template names the label at least once."""
    return Places(once=(), often=(label,))


def check_hypotheses(path: str, prompts: Prompts) -> Prompts:
    """The prompts of a file as they are.

    Raises:
        BadInput: the template has what no statement about a text can have.
    """
    template = prompts.get(NLI)
    if template is not None and template.system:
        raise BadInput(f"{path}: {NLI}.system: an NLI model judges a statement and reads no system message")
    if template is not None and "{text}" in template.user:
        raise BadInput(f"{path}: {NLI}.user: {{text}} is what the statement is about, and does not stand in it")
    return prompts


def stated(template: Prompt, fields: Mapping[str, str]) -> str:
    """The statement, which begins with a capital."""
    words = filled(template.user, fields)
    return words[:1].upper() + words[1:]
