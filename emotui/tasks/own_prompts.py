"""Which tasks take prompts of a person's own, and how their files are read."""

from collections.abc import Callable, Mapping

from emotui.tasks.masked_prompts import read_masked_prompts
from emotui.tasks.prompt_files import Prompts
from emotui.tasks.rephrase_prompts import read_rephrase_prompts
from emotui.tasks.scenes_prompts import read_scenes_prompts
from emotui.tasks.spans_prompts import read_prompts

PROMPT_FILES: Mapping[str, Callable[[str], Prompts]] = {
    "spans": read_prompts,
    "scenes": read_scenes_prompts,
    "masked": read_masked_prompts,
    "rephrase": read_rephrase_prompts,
    "class": read_rephrase_prompts,
}
"""By task, and by the name under which `emotui predict` has one."""
