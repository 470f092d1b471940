"""What a model that writes is asked about a scenario (EmoScene, appendix E), and prompts of the user's own from a file.

The words are this project's; order and tags of a reasoned answer are the paper's. `docs/prompts.md` has the format.
"""

from collections.abc import Mapping

from emotui.tasks.prompting.files import Places, Prompt, Prompts, filled, read_prompt_file
from emotui.tasks.prompting.hypotheses import NLI, check_hypotheses, hypothesis_places, stated
from emotui.tasks.prompting.ways import COT, ZERO_SHOT

FIRST_TOKEN, REASONED, YES_NO = "first-token", "reasoned", "yes-no"
WAYS = (FIRST_TOKEN, REASONED, YES_NO)

SYSTEM = "You read short scenes and judge what one person in them feels. Judge that person only, from what is written."
SCENE = "Scene:\n{text}\n\nPerson: {subject}\n\n"
QUESTION = "Does {subject} feel {emotion} in this scene? Answer with one word, Yes or No."
REASONING = (
    "Does {subject} feel {emotion} in this scene? Go about it in this order. First name, in two or three short "
    "sentences, what in the scene speaks for it or against it. Then write how sure you are, from 1 (a guess) to 5 "
    "(certain), as <confidence>N</confidence>, and nothing about why. Last write <answer>Yes</answer> or "
    "<answer>No</answer>, and stop."
)
SOMEONE = "the person at its centre"
"""The subject of a scenario that names none."""

PROMPTS: Prompts = {
    FIRST_TOKEN: Prompt(SCENE + QUESTION, SYSTEM),
    REASONED: Prompt(SCENE + REASONING, SYSTEM),
    YES_NO: Prompt(SCENE + QUESTION, SYSTEM),
    NLI: Prompt("{subject} feels {emotion}."),
}
"""This project's own."""

_TEXT, _SUBJECT, _EMOTION = "{text}", "{subject}", "{emotion}"
_PLACES = Places(once=(_TEXT,), often=(_SUBJECT, _EMOTION), barred=(_TEXT, _SUBJECT, _EMOTION))


def read_scenes_prompts(path: str) -> Prompts:
    """A prompt file with a table for one way or more. Raises BadInput as `read_prompt_file` and `check_hypotheses`."""
    places = dict.fromkeys(WAYS, _PLACES) | {NLI: hypothesis_places(_EMOTION)}
    return check_hypotheses(path, read_prompt_file(path, places, WAYS, {ZERO_SHOT: FIRST_TOKEN, COT: REASONED}))


def shared_and_asked(prompt: Prompt) -> tuple[str, str]:
    """`user` before and from the line that names the emotion first: what eight questions share, and where they part.

    A model computes the first part once, and the two one after the other are all of `user`.
    """
    here = prompt.user.rfind("\n", 0, prompt.user.find(_EMOTION)) + 1
    return prompt.user[:here], prompt.user[here:]


def scene_fields(text: str | None, subject: str | None) -> Mapping[str, str]:
    """What is filled in about a scenario; the emotion comes with each question."""
    return {"text": text or "", "subject": subject or SOMEONE}


def questions(asked: str, fields: Mapping[str, str], emotions: tuple[str, ...]) -> tuple[str, ...]:
    """One question for each emotion."""
    return tuple(filled(asked, {**fields, "emotion": emotion}) for emotion in emotions)


def statements(template: Prompt, fields: Mapping[str, str], emotions: tuple[str, ...]) -> tuple[str, ...]:
    """What an NLI model judges, one statement for each emotion."""
    return tuple(stated(template, {**fields, "emotion": emotion}) for emotion in emotions)
