"""What every model backend can be asked, and how it answers.

A backend is an object with the methods of the capabilities that it names. It lives in a child process
(`emotui.backends.host`); requests and results are frozen and plain, and go over as msgpack
(`emotui.backends.messages`). A result stands at the place of its request.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    import asyncio

    import numpy as np

Capability = Literal[
    "generate", "score", "rank", "classify", "embed", "fill_mask", "extract", "attribute", "regress", "states", "push"
]

CAPABLE_KINDS: Mapping[str, tuple[str, ...]] = {
    "generate": ("hf:", "gguf:", "openai:"),
    "score": ("embedded", "hf:", "gguf:", "openai:"),
    "rank": ("hf:", "gguf:"),
    "classify": ("embedded", "hf:"),
    "embed": ("embedded", "hf:", "gguf:", "openai:"),
    "fill_mask": ("embedded", "hf:"),
    "extract": ("embedded", "hf:"),
    "attribute": ("embedded", "hf:"),
    "regress": ("hf:",),
    "states": ("embedded", "hf:"),
    "push": ("hf:",),
}
"""Which kinds of model can do what: named wherever a model lacks a capability."""


class Message(msgspec.Struct, frozen=True):
    """One turn of a chat prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class Generate(msgspec.Struct, frozen=True):
    """Write a continuation of a chat or a plain prompt. `seed` makes sampling at a temperature above 0 reproducible.

    `opening`: text that the model's turn already begins with; the result holds what comes after it. `grammar`: GBNF
    (`emotui.backends.grammars`) that the answer keeps to; a model that follows none refuses. `echo`: the result also
    has the prompt as the model read it. `verdict`: the answer ends before `stop` to be judged by what comes there, yes
    or no: a model that can go on, but not begin with given words, brings that with the result.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    opening: str = ""
    echo: bool = False
    verdict: bool = False


class Generation(msgspec.Struct, frozen=True):
    """`text` as the model wrote it; `finish` is `stop` or `length`.

    `prompt`: with its template's control tokens, where the request asked for it by `echo`; empty where the model is
    behind a server, which does not tell. `verdict`: yes against no where the model itself went on behind `stop`, for a
    request that asked for it; None: it is to be asked for (`Score` with the text as its opening).
    """

    text: str
    prompt_tokens: int
    tokens: int
    finish: str
    prompt: str = ""
    verdict: "Scores | None" = None


class Score(msgspec.Struct, frozen=True):
    """Yes against no for each question about one text. Questions are labels where the model has heads for them.

    A generative model reads `messages`, with each question in turn added as it is to the end of the last user message,
    and then `opening`, the text that its turn already begins with; the very next token is its answer. Without
    `messages`, the prompt is one user message: the text, an empty line, the question. `echo`: as in `Generate`.
    `stated`: each question is a whole statement, which an NLI model judges as it is, without a hypothesis of its own.
    `mask`: as in `Classify`.
    """

    text: str
    questions: tuple[str, ...]
    messages: tuple[Message, ...] = ()
    opening: str = ""
    echo: bool = False
    stated: bool = False
    mask: str = ""


class Scores(msgspec.Struct, frozen=True):
    """One entry a question: logits of yes and of no; `mass` is the probability on all their forms (1 for a head).

    Of a generative model: `yes` and `no` are log-probabilities, each over all its one-token forms (see `yesno`),
    and `shares` has each form's part of the mass, named as the model's token reads (`" Yes"`). `censored` says what a
    server kept back: `""`, `"yes"`, `"no"` or `"both"`; such a value is then the highest that it can be. `prompt`: that
    of the first question, as in `Generation`.
    """

    yes: tuple[float, ...]
    no: tuple[float, ...]
    mass: tuple[float, ...]
    shares: tuple[Mapping[str, float], ...] = ()
    censored: tuple[str, ...] = ()
    prompt: str = ""


class Rank(msgspec.Struct, frozen=True):
    """How likely each continuation is after one shared prefix.

    The prompt is `prefix` as plain text; where there are `messages`, it is they, rendered as a chat, and then `prefix`
    as the beginning of the model's turn. Prefix and continuation are tokenised apart.
    """

    prefix: str
    continuations: tuple[str, ...]
    messages: tuple[Message, ...] = ()


class Ranked(msgspec.Struct, frozen=True):
    """One entry a continuation: the sum of its tokens' log-probabilities, their number, and if each was likeliest."""

    logprobs: tuple[float, ...]
    tokens: tuple[int, ...]
    greedy: tuple[bool, ...]


class Classify(msgspec.Struct, frozen=True):
    """Probabilities over a label set of the model (`embedded`: `goemotions`, `ekman`, `plutchik`), or given labels.

    `mask`: in the text each of these stands for the model's own mask token, where its card has one; empty: none does.
    """

    text: str
    label_set: str | None = None
    labels: tuple[str, ...] | None = None
    mask: str = ""


class Classification(msgspec.Struct, frozen=True):
    """Label to probability, in the model's order. `label` is the single-label answer; `truncated`: the text was cut."""

    probs: Mapping[str, float]
    label: str
    multi_label: bool
    truncated: bool = False


class Embed(msgspec.Struct, frozen=True):
    """A sentence embedding, of length 1."""

    text: str


MASK = "<mask>"
"""What stands in a text for a word to fill in."""


class FillMask(msgspec.Struct, frozen=True):
    """Rank `candidates` for each `<mask>` in `text`."""

    text: str
    candidates: tuple[str, ...] | None = None
    top: int = 10


class Filled(msgspec.Struct, frozen=True):
    """For each mask, in order: words and their probabilities among the candidates, best first."""

    masks: tuple[tuple[tuple[str, float], ...], ...]


class Extract(msgspec.Struct, frozen=True):
    """Find spans of emotion evidence."""

    text: str


class Evidence(msgspec.Struct, frozen=True):
    """One span of evidence: offsets in code points, an emotion and a strength in [0, 1]."""

    start: int
    end: int
    label: str
    strength: float


class Attribute(msgspec.Struct, frozen=True):
    """How much each word carries a label (the predicted one where none is given), as parts of the label's log-odds.

    `method`: what these lose without the word (`removal`); gradient times input; or integrated gradients, from the
    model's mask token (or padding) in place of each of the text's tokens, by as many `steps`.

    A model that writes is asked `question`, yes or no, at the end of the user's last of these `messages`, in which the
    text stands, last of what is like it: the log-odds are those of yes, and the parts those of the text's words alone.
    """

    text: str
    label: str | None = None
    method: Literal["removal", "gradient", "integrated"] = "removal"
    steps: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50
    messages: tuple[Message, ...] = ()
    question: str = ""


class Attribution(msgspec.Struct, frozen=True):
    """`words`: (start, end, drop or part) in text order.

    Of a gradient's method also the log-odds of the `whole` text and `without` it (all its embeddings zero, or those
    that are integrated from), and `rest`: the part of tokens that are of no word. Completeness: words and rest come to
    whole less without. `truncated`: the text was cut.
    """

    label: str
    words: tuple[tuple[int, int, float], ...]
    whole: float | None = None
    without: float | None = None
    rest: float = 0.0
    truncated: bool = False


class Regress(msgspec.Struct, frozen=True):
    """Numbers about a text by the model's own names, as its regression head gives them."""

    text: str


class Regressed(msgspec.Struct, frozen=True):
    """Name to number, in the model's order; `truncated`: the text was cut."""

    values: Mapping[str, float]
    truncated: bool = False


class States(msgspec.Struct, frozen=True):
    """What a text becomes from layer to layer: 0 is what goes into the first layer, k what comes out of the k-th.

    `layers`: those asked for; None: all. `over`: what a state is of: the mean over the text's tokens, its last token
    alone, or the mean over the tokens of each word (`emotui.backends.words`). A model that writes may be given a chat
    in place of the text, `messages` and then `opening`, the text that its turn begins with; its last token alone can be
    read. `continuations`: of a model that writes also how likely each is next, read at each layer by the model's own
    last norm and unembedding (the logit lens; nostalgebraist 2020).
    """

    text: str
    layers: tuple[int, ...] | None = None
    over: Literal["text", "last", "words"] = "text"
    messages: tuple[Message, ...] = ()
    opening: str = ""
    continuations: tuple[str, ...] = ()


class HiddenStates(msgspec.Struct, frozen=True):
    """States of one text, float16 as bytes: (layers, rows, size) in C order, each layer divided by its scale.

    Attributes:
        layers: their numbers, in the order asked for.
        size: of a state.
        values: the states; a row a word, or one row.
        scales: a power of two for each layer, 1 where float16 holds its states as they are.
        words: (start, end) of each word that was read, where `over` asks for words.
        logprobs: by layer the sum of the log-probabilities of each continuation's tokens.
        depth: how many layers the model has.
        truncated: the text was cut.
    """

    layers: tuple[int, ...]
    size: int
    values: bytes
    scales: tuple[float, ...]
    depth: int
    words: tuple[tuple[int, int], ...] = ()
    logprobs: tuple[tuple[float, ...], ...] = ()
    truncated: bool = False

    def array(self) -> "np.ndarray":
        """(layers, rows, size) in float32."""
        import numpy as np

        states = np.frombuffer(self.values, np.float16).reshape(len(self.layers), -1, self.size)
        return states.astype(np.float32) * np.array(self.scales, np.float32)[:, None, None]


def hidden_states_of(
    states: "np.ndarray", layers: Sequence[int], depth: int, words: Sequence[tuple[int, int]] = (), **more: Any
) -> HiddenStates:
    """States as they go over. Args: states: (layers, rows, size), float32; more: as of `HiddenStates`."""
    import numpy as np

    most = np.abs(states).max(axis=(1, 2), initial=0.0)
    halvings = np.maximum(np.ceil(np.log2(np.maximum(most, 1.0) / np.finfo(np.float16).max)), 0)
    scales = np.exp2(halvings)
    values = (states / scales[:, None, None]).astype(np.float16)
    return HiddenStates(
        tuple(layers), states.shape[2], values.tobytes(), tuple(scales.tolist()), depth, tuple(words), **more
    )


class Push(msgspec.Struct, frozen=True):
    """Ask while `strength` times a direction is added to every token's state at a layer (numbered as by `States`).

    At strength 0 nothing is added. A classifier is asked about the text (an NLI model about `labels`). A model that
    writes is asked how likely each of `continuations` is next behind `messages` and `opening`, how likely it finds the
    text itself, and, where `write` is above 0, to write so many tokens at most.

    `direction`: float32 as bytes, as long as a state.
    """

    text: str
    layer: int
    direction: bytes
    strength: float
    labels: tuple[str, ...] | None = None
    messages: tuple[Message, ...] = ()
    opening: str = ""
    continuations: tuple[str, ...] = ()
    write: int = 0


class Pushed(msgspec.Struct, frozen=True):
    """What is answered so: probabilities by label, or by continuation among all of them.

    Of a model that writes also the `logprob` of the text's `tokens`, and what it has `written`.
    """

    probs: Mapping[str, float]
    logprob: float | None = None
    tokens: int = 0
    written: str = ""


class Refused(msgspec.Struct, frozen=True):
    """Stands in place of a result where one request could not be answered; the others of its batch were.

    `again`: the trouble was not the request's (a server that went away): it counts as not done, and may be asked again.
    """

    why: str
    again: bool = False


def chosen_layers(layers: tuple[int, ...] | None, depth: int) -> tuple[int, ...] | Refused:
    """The layers that are asked for, of 0 up to the depth; refused where there is no such one."""
    if layers is None:
        return tuple(range(depth + 1))
    strange = [layer for layer in layers if not 0 <= layer <= depth]
    return Refused(f"there is no layer {strange[0]}: the model has 0 to {depth}") if strange else layers


class ModelCard(msgspec.Struct, frozen=True):
    """What a loaded model is. `identity` holds all that can change its outputs (file hashes, dtype, versions).

    `fitted_on`: tasks whose sample data the model was fitted on, so that its figures there flatter it. `thresholds`: by
    label set, from which probability on the model itself gives a label, where that was fitted. `trained_on`: by task,
    what has to be known of its figures because the model has learnt from such data. `at_once`: so many asks are best
    under way at a time, each answered when it is done (a server); 1: one after the other. `together`: how many texts
    are best asked about in one batch (a GPU wants many); 0: as many as whoever asks finds right. `grows_to`: how many a
    batch may grow to while that makes the model quicker; 0: it does not grow. `judges`: an NLI
    model, which scores any statement about a text (`Score.stated`). `mask`: its own token for a word that is kept from
    it, where it reads one (`Classify.mask`).
    """

    spec: str
    name: str
    capabilities: tuple[str, ...]
    identity: Mapping[str, str]
    labels: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    fitted_on: tuple[str, ...] = ()
    thresholds: Mapping[str, Mapping[str, float]] = msgspec.field(default_factory=dict)
    trained_on: Mapping[str, str] = msgspec.field(default_factory=dict)
    at_once: int = 1
    together: int = 0
    grows_to: int = 0
    judges: bool = False
    mask: str | None = None


ANSWERS = "answers"
"""In the identity of a card: a hash of the answers, where these stand in files that may become more."""

Progress = Callable[[str], None]
"""Called with what is being done, such as a step of loading (one short line)."""

OnStep = Callable[[str, int, int], None]
"""Called with a step's name, how much of it is done, and how much there is."""


class Backend(Protocol):
    """A loaded model, with a method for each capability that its card names: `generate(requests)` and so on.

    One whose card says `at_once` above 1 is a `SideBySide` too.

    Each takes a sequence of requests of one type and returns as many results, `Refused` where one cannot be answered.
    Loading (`load(spec, options, progress)`) may raise `emotui.errors.ModelError` with one clear line.
    """

    card: ModelCard


class SideBySide(Backend, Protocol):
    """A model that answers several asks at a time, in an event loop of its own."""

    runner: "asyncio.Runner"

    async def answer(self, requests: "Sequence[Request]") -> Any:
        """The results of requests of one type, as the method of their capability gives them."""

    def new_builds(self) -> tuple[str, ...]:
        """What the model said of its own build since this was last asked, where that may change as it runs."""


Loader = Callable[[str, Mapping[str, Any], Progress], Backend]
"""`load(argument, options, progress)`: `argument` is what follows `KIND:` in a SPEC, empty for `embedded`."""

Request = Generate | Score | Rank | Classify | Embed | FillMask | Extract | Attribute | Regress | States | Push
METHODS: Mapping[type, str] = {
    Generate: "generate",
    Score: "score",
    Rank: "rank",
    Classify: "classify",
    Embed: "embed",
    FillMask: "fill_mask",
    Extract: "extract",
    Attribute: "attribute",
    Regress: "regress",
    States: "states",
    Push: "push",
}
"""Request type to the backend's method; `embed` returns one float32 array (n, d), the others a list."""

Requests = Sequence[Request]
