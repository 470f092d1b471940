"""What every figure, letter and mark on the screens means, in one plain sentence each."""

from collections.abc import Iterable, Mapping

from emotui.store.query import MARKS

Signs = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and what stands under it: a sign, or several that mean the same between commas, with its sentence."""

_RIGHT: Signs = (
    "How good answers are",
    (
        ("F1", "in general: one number for P and R, 1 where just what gold has was given, 0 where nothing of it was"),
        (
            "SEER F1",
            "what matched spans share over the greater number of spans (P: over predicted ones, R: over gold's)",
        ),
        ("P, Precision", "of all that was given, the share that gold has too"),
        ("R, Recall", "of all that gold has, the share that was given"),
        ("Sim", "how alike two texts are in meaning: the cosine of their vectors, at most 1"),
        ("F1 label", "F1 where spans with different labels do not count as met"),
        ("token F1", "F1 by words: half a span that is met counts as half"),
        ("exact F1", "F1 where a span counts only if start and end are the same"),
        ("exact F1 with labels", "F1 where a span counts only if start, end and label are the same"),
        ("EM", "exact match: the share of texts whose spans are just the gold ones, case and punctuation aside"),
        ("EM, letters", "the share of texts that came back letter by letter"),
        ("Accuracy", "the share of answers that are right"),
        ("right", "✓ where the answer is the gold label, ✗ where it is another"),
        ("exact, Exact match, Exact", "the share of texts given just their gold labels, none more and none less"),
        ("Macro-F1", "F1 of each label, and of these the plain mean: rare labels count as much as common ones"),
        ("Micro-F1", "F1 over all labels of all texts together: common labels count more"),
        ("Weighted-F1, Weighted", "F1 of each label, and of these the mean by how often the label is gold"),
        ("Samples-F1, Samples", "F1 of each text, and of these the mean"),
        ("Jacc, Jaccard", "labels that both have, over labels that either has"),
        ("Hamming loss, Hamm", "the share of single yes or no answers about a label that are wrong"),
        ("Average precision, AP", "how well probabilities put the right texts of a label before the others; 1: all"),
        ("Acc_l, Acc_L", "the share of single labels, or words for masks, that are right"),
        (
            "Acc_v, Acc_V",
            "the share of texts with every label right, or of masks with a word that has the gold word's emotions",
        ),
        ("F1_V", "F1 of the emotions that EmoLex ties to the two words of a mask"),
        ("Valid answers", "the share of answers that could be read at all"),
        ("Support", "how often the class is the right one"),
        ("Seen as neutral", "the share of neutral versions that most people call neutral"),
        ("Base, CoT, Change", "without reasoning first, with it (chain of thought), and what that changes"),
        ("Alone, Prior", "the model's own answers, and the same answers weighed with how emotions go together"),
        ("All", "over all texts, beside those of each saved slice"),
    ),
)

_WRONG: Signs = (
    "Errors as shares",
    (
        ("Rate", "the share of spans or texts with the error that the heading names"),
        ("By sentence", "the same share, each sentence of a passage counted by itself"),
        ("Sentences", "the share of neutral sentences in which something was marked"),
        ("Spans", "how many spans have the error, or the share of all spans that do"),
        ("Invalid", "the share of answers that could not be read"),
        ("leak", "yes where the text says its own emotion by name"),
    ),
)

_SURE: Signs = (
    "Probabilities",
    (
        ("P(yes), Probability", "how probable the model holds it, from 0 to 1"),
        ("conf", "the probability that the model gives to the gold label"),
        ("ECE, Calibration error", "how far probabilities are from how often the answer is right, at worst 1"),
        ("Brier, Brier score", "the mean squared gap between probability and truth; 0 is best"),
        ("Threshold, From", "a label is given from this probability on"),
        ("Share of annotators", "how many of those asked said yes, beside the model's probability"),
        ("nats", "log-odds: 0 is even, +1 about 2.7 to 1 for it, -1 about 2.7 to 1 against"),
        ("log-odds", "the logarithm of yes against no: what speaks for it is above 0, and terms simply add up"),
        (
            "ekman, plutchik",
            "of embedded: that one of an emotion's GoEmotions labels holds, so that small ones add up",
        ),
        ("α", "in Scenes the weight of how emotions usually go together: 0 is the model alone"),
        ("bias", "how common an emotion is on the whole, in nats"),
        ("couplings", "how much one emotion raises or lowers another, in nats"),
        ("expected Hamming", "each emotion is decided by itself: yes above one half"),
        ("expected macro-F1", "each emotion is decided by its rank among all scenes: yes for the likeliest"),
        ("KL, KL reverse", "how far the spread of emotions has moved from the originals', in nats; 0: not at all"),
    ),
)

_NUMBERS: Signs = (
    "Numbers on a scale",
    (
        ("r, Pearson", "whether two rows of numbers rise together: 1 as one, 0 not at all, -1 one falls"),
        ("rho, Spearman", "the same by ranks alone: whether both put the texts into the same order"),
        ("Oriented", "the correlation with its sign turned, so that more is always better"),
        ("R²", "the share of the differences between texts that the other numbers account for"),
        ("CCC", "as r, and it falls too where one side always says more than the other"),
        ("MAE", "by how much the numbers are off, on the mean"),
        ("RMSE", "by how much the numbers are off, where one great miss counts more than several small ones"),
        ("Wasserstein, W1", "how far answers have to be moved along the scale to be spread as people's"),
        ("Within", "the share of texts whose number lies among those of the people, or the correlation within a model"),
        ("Number, Mean of annotators", "the number given, and what people gave on the mean"),
        ("Thousand millions", "how many parameters a model has"),
    ),
)

_AGREE: Signs = (
    "Agreement",
    (
        ("alpha, Krippendorff's alpha", "agreement of any number of people beyond chance: 1 in all, 0 as by chance"),
        ("alpha, ordinal", "the same where near numbers count as nearly agreed (also: interval, ratio)"),
        ("kappa, κ, Cohen's kappa", "agreement of two people beyond chance: 1 in all, 0 as by chance"),
        ("mean Cohen's kappa", "kappa of each two people, and of these the mean"),
        ("Fleiss' kappa", "kappa of more than two people who answered the same texts"),
        ("u-alpha", "alpha for spans: where they stand and what they are called, letter by letter"),
        ("u-alpha, marked or not", "the same, whatever the spans are called"),
        ("u-alpha, labels", "the same for labels alone, where two people marked something"),
        ("(k)u-alpha", "the same for one label alone"),
        ("gamma", "agreement on spans that need not stand at just the same place to count as the same one"),
        ("gamma-cat, gamma-k", "the same for labels alone: of all of them, of one"),
        ("ω, winning rate", "the share of annotators in whose stead the model may answer; from .50 on it may stand in"),
        ("ρ, advantage", "how often the model stands as near to the other annotators as the one left out"),
        ("ICC", "the share of the differences in ratings that lies in the texts and not in who rates"),
        ("agree, Agreement", "the share of pairs of people who gave the same answer, or of raters with the main label"),
        ("whole vectors", "the share of texts for which all labels are the same"),
        ("Human F1", "F1 of what most people saw against what the text was to show"),
        ("same verdict, verdict", "the share of texts for which annotators give the same verdict"),
        ("all agree with it, with it", "the share of texts for which all annotators say what the model says"),
        ("same label, same", "the share of texts for which both say the same label"),
        ("value", "the figure that the row names"),
        ("95% low, 95% high, to", "the ends of the 95% interval"),
        ("model as good, model", "how often the model stands as near to the others as the annotator left out"),
        ("annotator as good, annotator", "how often the annotator left out stands as near to the others as the model"),
        ("suspicion, susp.", "how sure it is, from what people say, that gold is wrong here"),
        ("followed, away", "the share of answers that went with a suggestion, and that went against it"),
        ("taken, mended, refused", "the share of suggested spans taken as they were, changed, thrown away"),
        ("Jensen-Shannon, JSD", "how far the model's shares are from those of the people; 0: the same"),
        ("Cross-entropy, CE", "how little the model expects what people say; less is better"),
    ),
)

_WRITTEN: Signs = (
    "Texts that models write",
    (
        ("EAnS", "whether an emotional text is its neutral version moved by the emotion, by directions of meaning"),
        ("R1cos, R1_c", "cosine of neutral and emotional text"),
        ("R2cos, R2_c", "cosine of the emotion and what sets the emotional text apart from the neutral one"),
        ("R3cos, R3_c", "cosine of the original and the emotional text"),
        ("R1L1, R1_m", "distance of neutral and emotional text, less is nearer"),
        ("R2L1, R2_m", "distance of the emotion and what sets the emotional text apart"),
        ("R3L1, R3_m", "distance of the original and the emotional text"),
        ("emotional", "the share of texts that a classifier calls emotional (EPS)"),
        ("emotionless", "the share of texts that a classifier calls emotionless (EPS)"),
        ("neutral", "the share of texts that a classifier calls neutral"),
        ("EAS", "how strong the emotion is, from 0 to 6, as a model that writes rates it"),
        ("ERS", "whether the emotion that a classifier finds is the one that was asked for"),
        ("PPL", "perplexity: how surprised a language model is by the emotional text; less is more fluent"),
        ("PPL neutr", "perplexity of the neutral text"),
        ("PPL orig", "perplexity of the original"),
        ("words", "words of the text"),
        ("F1 neutral", "F1 of neutral versions, by what most people saw"),
    ),
)

_EVIDENCE: Signs = (
    "Why a model answers so",
    (
        ("comp, comprehensiveness", "how far the probability falls once the evidence is taken out of the text"),
        ("suff, sufficiency", "how far the probability falls where the evidence alone is left; near 0 is good"),
        ("random", "how far it falls where as many words elsewhere are taken out"),
        ("than gold", "above random, less the same of gold's spans by the same model"),
        ("by span, by text", "whether what fits gold better also carries more of the answer: above 0 it does"),
        ("above, above random", "comprehensiveness less what other words do: above 0 the evidence matters"),
        ("knew", "share of texts whose label a layer of the model knew and the answer did not say"),
        ("by chance, above chance", "the same by probes of shuffled labels, and how much more the layer knew"),
        ("evidence", "the words that the model itself marks as showing the emotion"),
        (
            "carries",
            "a word without which the label's log-odds fall: by .10, and by a quarter of the strongest word's, or more",
        ),
    ),
)

_STATISTICS: Signs = (
    "Intervals and tests",
    (
        ("[low, high]", "95% interval: other texts of this kind would give a figure within it in 95 of 100 cases"),
        ("…, counting", "a figure that is still being counted and would change"),
        ("±", "standard deviation: over repeats, or over annotators, as the note under the table says"),
        ("p, p Holm, p BH", "how often chance alone gives a difference as great; Holm, BH: corrected for all tested"),
        ("p >", "the same for more alone: how often chance lets the first be better by as much"),
        ("q", "a p corrected so that of all that is called different at most that share is by chance"),
        ("n", "over how many texts"),
        ("M", "in tables: the mean of all values; among the errors of the list: missed"),
        ("AUC", "how often a right text has a greater value than a wrong one; .50 is chance"),
        ("Δ, ● − ◇, Difference", "the first less the second: above 0 the first has more"),
        ("d", "the difference in standard deviations: .2 is small, .8 is large"),
        ("d, pooled", "the same by the standard deviation of both together"),
        ("Models less people", "the share of models less that of people"),
        ("won, lost, tied", "texts with more for the first, more for the second, as much for both"),
        ("gap", "people less the model, or one source less the other, in that group"),
        ("passed", "the tests that were passed, of how many"),
        ("honest, leaked", "fitted on other scenes than it is measured on, or on the very same ones"),
        ("Share of the word's masks", "of all masks of this word, the share filled so"),
    ),
)

_SHAPES: Signs = (
    "On every screen",
    (
        ("▸", "what the cursor is on: a line, a column, a mask"),
        ("note, yes", "in the list: there is a note on the sample, which stands in a line over the keys"),
        ("sad, ang", "names that lack room: their first three letters, or as many as no other name begins with"),
        (
            "● ◐ ○",
            "the one in use or yours, in between, the other or gold; of two compared ● the first, ◇ the second",
        ),
        ("◆ ◇ ▲ ▼ △ ▽", "a point on an axis; which one stands in the line under it"),
        ("├ ┤", "the ends of a 95% interval"),
        ("│ ┊", "the mark that others are measured against, the limit of an axis"),
        ("╌", "an interval that another one crosses"),
        ("◈", "the two that are compared, in one cell"),
        ("▁ ▄ █, ▏ ▎ ▍ ▌ ▋ ▊ ▉, ■ □ ▬", "bars: the longer or higher, the more"),
        ("░ ▒ ▓", "shades: the darker, the more; in a bar three kinds side by side"),
        ("↑ ↓ ← →", "keys; after a figure ↑ says that more is better, ↓ that less is"),
        ("✓ ✗", "right, done or able, wrong or not done"),
        ("≠", "the sources disagree, or two words differ"),
        ("≈ ≡ ┅ ═ ━", "bars under words: another pattern for each source, named at their left"),
        ("… ‹ ›", "more stands there than there is room for"),
        ("▏", "here you type"),
        ("·", "nothing, or as before"),
        ("−", "minus"),
        ("×", "times"),
        ("°", "which of several masks"),
        ("↔", "of two words one took the place of the other"),
        ("†", "printed in a paper: other texts, so not to be compared figure by figure"),
        ("⇧ ^ ⌫", "keys: Shift, Ctrl, Backspace"),
    ),
)

_IN_TEXT: Signs = (
    "In the text",
    (
        ("underlined", "gold span"),
        ("on a ground, or reversed", "predicted span"),
        ("both at once", "where they meet"),
        ("dotted bar", "predicted, but nothing except a keyword"),
        ("struck through", "predicted, but not in the text"),
        ("◦ ▸ ◂ ␛ ␡ ◌ �", "stand for characters that cannot be seen"),
        ("–", "no figure is defined"),
    ),
)

_MARKS: Signs = (
    "Errors in the list",
    (
        *MARKS.items(),
        (
            "strip, errors, cell",
            "the line over the list: its texts in order, a cell for one or a few, with the letter of the error of most",
        ),
        ("M, m, ·", "in that strip: at least half of the cell's texts have an error, fewer have one, none has"),
        ("1 of 5, 1/211", "the one under the cursor, and how many there are"),
    ),
)

GLOSSARY: tuple[Signs, ...] = (
    _RIGHT,
    _WRONG,
    _SURE,
    _NUMBERS,
    _AGREE,
    _WRITTEN,
    _EVIDENCE,
    _STATISTICS,
    _SHAPES,
    _MARKS,
    _IN_TEXT,
)
"""In the order in which the sheet shows it."""


def explained(blocks: Iterable[Signs] = GLOSSARY) -> Mapping[str, str]:
    """The sentence for each name and sign, names in small letters: `f1`, `krippendorff's alpha`, `▸`."""
    found: dict[str, str] = {}
    for _, rows in blocks:
        for signs, words in rows:
            for name in (signs, *signs.split(", "), *(one for one in signs.split() if not one.isascii())):
                found.setdefault(name.strip(" ,").casefold(), words)
    return found
