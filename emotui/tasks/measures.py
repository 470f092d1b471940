"""How a paper says what each task asks and what its figures measure, in the field's words."""

from emotui.tasks.parts import Measure

SPANS = (
    Measure(
        ("F1", "P", "R", "Sim"),
        "Predicted and gold spans of a text are aligned one to one by the Kuhn-Munkres algorithm, which maximises the"
        " total token-level F1 of the aligned pairs (as in SQuAD: lower-cased, without punctuation and articles).",
    ),
    Measure(
        ("F1",),
        "The F1 of a text is the sum over its aligned pairs divided by the greater of its numbers of gold and predicted"
        " spans, and 1 where it has neither; F1 is the mean over texts.",
    ),
    Measure(
        ("P", "R"),
        "Precision (P) and recall (R) divide the sum over the aligned pairs of all texts by the number of predicted and"
        " of gold spans.",
    ),
    Measure(
        ("Sim",),
        "Sim is computed as F1 is, with the cosine similarity of the two spans' sentence embeddings in place of their"
        " token-level F1.",
    ),
)
SCENES = (
    Measure(
        ("Lexical accuracy", "Vector accuracy", "Hamming loss"),
        "Lexical accuracy is the share of single emotions that are right, its complement the Hamming loss, and vector"
        " accuracy the share of scenes all of whose emotions are right.",
    ),
    Measure(
        ("Macro-F1",),
        "Macro-F1 is the unweighted mean of the F1 of each emotion (0 for an emotion that never occurs and is never"
        " predicted).",
    ),
    Measure(
        ("Lexical accuracy",),
        "Each figure is given for the logits alone, where an emotion is present if yes has the greater logit, and for"
        " joint decoding under an Ising prior fitted to the gold labels, whose strength is chosen by nested"
        " cross-validation.",
        in_words="Each figure is given for the model alone, where an emotion is present if the model answers yes (in"
        " words, or by the greater logit), and for joint decoding under an Ising prior fitted to the gold labels, whose"
        " strength is chosen by nested cross-validation; an answer in words enters it with the sensitivity and"
        " specificity of such answers about the emotion, estimated on the other folds.",
    ),
)
LABELS = (
    Measure(
        ("Macro-F1", "Micro-F1", "Weighted-F1"),
        "Macro-F1 is the unweighted mean of the F1 of each label (0 for a label that never occurs and is never"
        " predicted), weighted F1 weights each label by its number of gold texts, and micro-F1 pools the decisions over"
        " all labels.",
    ),
    Measure(
        ("Samples-F1", "Jaccard"),
        "Samples-F1 and the Jaccard index compare the gold and the predicted set of labels of each text, 1 where both"
        " are empty, and are means over texts.",
    ),
    Measure(
        ("Exact match", "Hamming loss"),
        "Exact match is the share of texts whose set of labels is predicted without an error, Hamming loss the share of"
        " all decisions about single labels that are wrong.",
    ),
    Measure(
        ("Average precision", "Brier score", "Calibration error"),
        "Average precision, the Brier score and the expected calibration error (15 bins of equal width) are computed"
        " from the predicted probabilities of each label and averaged over labels.",
    ),
)
MASKED = (
    Measure(
        ("Acc_L", "Acc_V", "F1_V"),
        "Acc_L is the share of masks for which the gold word is predicted. For Acc_V and F1_V each word is a binary"
        " vector over Plutchik's eight basic emotions and two sentiments in a lexicon: Acc_V is the share of masks with"
        " a word of the same vector, F1_V the mean F1 of the gold and the predicted word's vectors.",
    ),
    Measure(
        ("Valid answers",),
        "An answer is valid if it has a word for each mask of its text; a mask without a word counts as wrong.",
    ),
)
CLASSES = (
    Measure(
        ("Macro-F1", "Weighted-F1"),
        "Macro-F1 is the unweighted mean of the F1 of each label, and weighted F1 weights each label by its number of"
        " gold texts.",
    ),
)
VALUES = (
    Measure(
        ("Pearson", "Spearman", "CCC"),
        "For each scale we correlate gold and predicted values by Pearson's r, Spearman's rho and Lin's concordance"
        " correlation coefficient (CCC), which also penalises differences in mean and variance.",
    ),
    Measure(("RMSE", "MAE"), "RMSE and MAE are the root mean squared and the mean absolute error."),
)
