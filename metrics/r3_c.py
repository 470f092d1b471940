"""EAnS R3 by cosine: how near the emotional text lies to the original."""

from emotui.metrics.metric import Metric
from emotui.metrics.vectors import Floats, cosine

METRIC = Metric("r3_c", (-1, 1), True, "EAnS R3, cosine of original and emotional text (section 5.4)", "R3cos")


def r3_c(original: Floats, emotional: Floats) -> Floats:
    """R3_c of each text, in [-1, 1]; higher is better (section 5.4).

    Args:
        original, emotional: (n, d), embeddings S_o and S_t.

    Reading: as printed. Table 11: .618 with human F1.

    Source: section 5.4, equation 5 of the emotion generation paper, after Jafari et al. 2025.
    """
    return cosine(original, emotional)
