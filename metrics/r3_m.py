"""EAnS R3 by Manhattan distance: how far the emotional text lies from the original."""

from emotui.metrics.metric import Metric
from emotui.metrics.vectors import Floats, manhattan

METRIC = Metric(
    "r3_m", (0, None), False, "EAnS R3, Manhattan distance of original and emotional text (section 5.4)", "R3L1"
)


def r3_m(original: Floats, emotional: Floats) -> Floats:
    """R3_m of each text, from 0 on; lower is better (section 5.4).

    Args:
        original, emotional: (n, d), unit embeddings S_o and S_t.

    Reading: as printed; Table 11's distances of 11 to 15 are those of unit vectors of BGE-M3's 1,024 dimensions. There
    -.654 with human F1 as it is, .655 oriented: the best of those that need no judge.

    Source: section 5.4, equation 5 of the emotion generation paper, after Jafari et al. 2025.
    """
    return manhattan(original, emotional)
