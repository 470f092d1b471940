"""EAnS: whether a target emotion was put into a neutral text, and its meaning kept, as analogies of embeddings.

Source: section 5.4, equations 4 and 5 of the emotion generation paper, after Jafari et al. 2025; BGE-M3 embeds there.
"""

from typing import Literal

from emotui.metrics.r1_c import r1_c
from emotui.metrics.r1_m import r1_m
from emotui.metrics.r2_c import r2_c
from emotui.metrics.r2_m import r2_m
from emotui.metrics.r3_c import r3_c
from emotui.metrics.r3_m import r3_m
from emotui.metrics.vectors import Floats

Reading = Literal["table", "printed"]
READINGS: tuple[Reading, ...] = ("table", "printed")
EANS = ("r1_c", "r1_m", "r2_c", "r2_m", "r3_c", "r3_m")
"""Three relations, each by cosine (higher is better) and by Manhattan distance (lower is better)."""


def eans(
    original: Floats,
    neutral: Floats,
    emotional: Floats,
    target_label: Floats,
    neutral_label: Floats,
    reading: Reading = "table",
) -> dict[str, Floats]:
    """The six relations of each text.

    Args:
        original, neutral, emotional: (n, d), unit embeddings of the texts S_o, S_n and S_t.
        target_label, neutral_label: (n, d), unit embeddings E_t and E_n of a sentence about the target emotion and
            about `neutral`.
        reading: `printed` is equation 5: R1 is of E_n and E_t, R2 of E_n and A. R1 is then the same for every model
            that had the same targets, but in Table 11 it varies by model and goes with R3. `table` therefore has S_n
            and S_t in R1, neutral against emotional text; R2 and R3 are the same in both.

    Returns:
        `EANS` to (n,); cosines in [-1, 1], Manhattan distances from 0 on. A = E_t - S_t + S_n (equation 4) is not
        brought back to length 1: its cosine does not change by that, and its distance is then as large as Table 11's
        is beside the others'.
    """
    analogy = target_label - emotional + neutral
    first = (neutral_label, target_label) if reading == "printed" else (neutral, emotional)
    return {
        "r1_c": r1_c(*first),
        "r1_m": r1_m(*first),
        "r2_c": r2_c(neutral_label, analogy),
        "r2_m": r2_m(neutral_label, analogy),
        "r3_c": r3_c(original, emotional),
        "r3_m": r3_m(original, emotional),
    }
