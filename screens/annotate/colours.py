"""The colours of a scheme's labels, each in the tone that the theme has for it."""

from emotui.workbench.annotate.scheme import COLOURS


def label_rules(widget: str, part: str, style: str = "") -> str:
    """Rules for the parts of a widget that are named `part` and a colour.

    Args:
        style: what further holds for them.
    """
    return "".join(f"{widget} > .{part}{colour} {{ color: $label-{colour}; {style} }}\n" for colour in COLOURS)
