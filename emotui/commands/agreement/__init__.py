"""`emotui agreement`: how far raters or sources agree, and on which texts not."""

from emotui.commands.agreement.command import agreement

__all__ = ["agreement"]
