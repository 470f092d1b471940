"""The registry of the metrics of emotion generation: thirteen in the paper, each in a file of its own.

ERS counts three times there, once for each of three classifiers: here it is one metric, for any number of classifiers.
"""

from emotui.metrics import (
    eas,
    eps_emotional,
    eps_emotionless,
    eps_neutral,
    ers,
    r1_c,
    r1_m,
    r2_c,
    r2_m,
    r3_c,
    r3_m,
)

REGISTRY = (
    eps_emotionless.METRIC,
    eps_neutral.METRIC,
    eps_emotional.METRIC,
    eas.METRIC,
    ers.METRIC,
    r1_m.METRIC,
    r2_m.METRIC,
    r3_m.METRIC,
    r1_c.METRIC,
    r2_c.METRIC,
    r3_c.METRIC,
)
"""In the order of Table 11."""
