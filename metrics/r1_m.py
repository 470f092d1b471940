"""EAnS R1 by Manhattan distance: how far the emotional text lies from the neutral one."""

from emotui.metrics.metric import Metric
from emotui.metrics.vectors import Floats, manhattan

METRIC = Metric(
    "r1_m", (0, None), False, "EAnS R1, Manhattan distance of neutral and emotional text (section 5.4)", "R1L1"
)


def r1_m(first: Floats, second: Floats) -> Floats:
    """R1_m of each text, from 0 on; lower is better (section 5.4).

    Args:
        first, second: (n, d), unit embeddings as of `emotui.metrics.r1_c`.

    Reading: as of R1_c, of neutral and emotional text by default and of the labels' sentences as printed.
    Table 11: .344 with human F1 when it is oriented.

    Source: section 5.4, equation 5 of the emotion generation paper, after Jafari et al. 2025.
    """
    return manhattan(first, second)
