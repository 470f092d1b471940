"""EAnS R2 by cosine: how near the analogy of texts and target lies to the neutral label."""

from emotui.metrics.metric import Metric
from emotui.metrics.vectors import Floats, cosine

METRIC = Metric("r2_c", (-1, 1), True, "EAnS R2, cosine of E_neutral and the analogy (section 5.4)", "R2cos")


def r2_c(neutral_label: Floats, analogy: Floats) -> Floats:
    """R2_c of each text, in [-1, 1]; higher is better (section 5.4).

    Args:
        neutral_label: (n, d), E_n, the unit embedding of a sentence about `neutral`.
        analogy: (n, d), A = E_t - S_t + S_n (equation 4).

    Reading: as printed. It needs no original text. Table 11: .630 with human F1.

    Source: section 5.4, equations 4 and 5 of the emotion generation paper, after Jafari et al. 2025.
    """
    return cosine(neutral_label, analogy)
