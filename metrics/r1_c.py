"""EAnS R1 by cosine: how near the emotional text lies to the neutral one."""

from emotui.metrics.metric import Metric
from emotui.metrics.vectors import Floats, cosine

METRIC = Metric("r1_c", (-1, 1), True, "EAnS R1, cosine of neutral and emotional text (section 5.4)", "R1cos")


def r1_c(first: Floats, second: Floats) -> Floats:
    """R1_c of each text, in [-1, 1]; higher is better (section 5.4).

    Args:
        first, second: (n, d). S_n and S_t, the embeddings of the neutral and the emotional text; in the printed reading
            E_n and E_t, those of the labels.

    Reading: equation 5 prints cos(E_n, E_t), which no model can change, but in Table 11 R1_c varies by model and goes
    with R3_c. So it is taken of the texts. Table 11: .282 with human F1.

    Source: section 5.4, equation 5 of the emotion generation paper, after Jafari et al. 2025.
    """
    return cosine(first, second)
