"""Which actions make sense in the Rephrase place, by what it shows and how the text at work stands."""

from typing import TYPE_CHECKING

from emotui.screens.rephrase_review import Review

if TYPE_CHECKING:
    from emotui.screens.rephrase import Rephrase

_WRITING = ("submit", "write", "skip", "suggest", "undo", "redo", "words", "view", "view_back", "copy")
_OPEN = ("submit", "skip", "suggest")


def can(place: "Rephrase", action: str) -> bool:
    """Can this action, which the place answers, be done now?"""
    editing, chain = place.editor.has_focus, place.chain
    if action == "write" and place.refused:
        return True
    if action == "leave":
        return editing or place.mode != "writing"
    if place.round is None or place.beginning or chain is None:
        return False
    match action:
        case "annotators":
            return place.mode == "figures"
        case "judge":
            return place.mode == "review" and place.query_one(Review).item is not None
        case "next_open" | "previous_open":
            return bool(place.open) if place.mode == "writing" else place.mode == "review"
    if action not in _WRITING:
        return True
    if place.mode == "review":
        return action == "undo" and place.query_one(Review).can_undo
    if place.mode != "writing":
        return action in ("view", "view_back") and place.mode == "figures"
    if action in _OPEN:
        is_open = chain.offered and chain.state == "open"
        return is_open and not place.acting and (editing or action != "submit")
    return not (action == "write" and editing)
