"""Numbers on a command line that must be numbers: click's own range lets `nan` through."""

import math
from typing import Any

import click


class FiniteRange(click.FloatRange):
    """A range of floats without NaN and infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number. Raises: click.BadParameter where it is none, or out of the range."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number
