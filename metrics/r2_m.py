"""EAnS R2 by Manhattan distance: how far the analogy of texts and target lies from the neutral label."""

from emotui.metrics.metric import Metric
from emotui.metrics.vectors import Floats, manhattan

METRIC = Metric(
    "r2_m", (0, None), False, "EAnS R2, Manhattan distance of E_neutral and the analogy (section 5.4)", "R2L1"
)


def r2_m(neutral_label: Floats, analogy: Floats) -> Floats:
    """R2_m of each text, from 0 on; lower is better (section 5.4).

    Args:
        neutral_label: (n, d), E_n, the unit embedding of a sentence about `neutral`.
        analogy: (n, d), A = E_t - S_t + S_n (equation 4).

    Reading: as printed, and A is not brought back to length 1: its distance is then as large as Table 11's is beside
    the other two. It needs no original text. Table 11: .622 with human F1 when it is oriented.

    Source: section 5.4, equations 4 and 5 of the emotion generation paper, after Jafari et al. 2025.
    """
    return manhattan(neutral_label, analogy)
