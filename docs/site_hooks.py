"""What MkDocs does to a page before it reads it (mkdocs.yml): links out of the documentation become their words."""

import re
from typing import Any

_OUT = re.compile(
    r"\[([^\]]*)\]\((?:\.\./)+(?!docs/)(?:README|CHANGELOG|CONTRIBUTING|LICENSE|CITATION|sample_data|backends|emotui|tools|benchmarks|tests)[^)]*\)"
)
"""Files of the repository that are no pages."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A page without the links that lead nowhere on the site."""
    return _OUT.sub(r"\1", markdown)
