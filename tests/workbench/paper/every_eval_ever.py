"""What `eval.schema.json` 0.2.2 of Every Eval Ever asks of a document, as types: fields, enumerations, conditions.

Written by hand after the schema (github.com/evaleval/every_eval_ever). It is stricter in one thing: no object has a
field that the schema does not name.
"""

from typing import Annotated, Any, Literal

import msgspec

Words = dict[str, str]
"""Of `additional_details`: every value is a string."""

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Part(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


class SourceMetadata(Part):
    source_type: Literal["documentation", "evaluation_run"]
    source_organization_name: str
    evaluator_relationship: Literal["first_party", "third_party", "collaborative", "other"]
    source_name: str = ""
    source_organization_url: str = ""
    source_organization_logo_url: str = ""
    additional_details: Words = {}


class Library(Part):
    name: str
    version: str
    additional_details: Words = {}


class Engine(Part):
    name: str = ""
    version: str = ""


class Model(Part):
    name: str
    id: str
    developer: str = ""
    inference_platform: str = ""
    inference_engine: Engine | None = None
    additional_details: Words = {}


class Source(Part):
    """Of the three kinds that of data which no address and no Hugging Face dataset names."""

    dataset_name: str
    source_type: Literal["other"]
    source_id: str = ""
    source_version: str = ""
    additional_details: Words = {}


class MetricConfig(Part):
    lower_is_better: bool
    evaluation_description: str = ""
    metric_id: str = ""
    metric_name: str = ""
    metric_kind: str = ""
    metric_unit: str = ""
    metric_parameters: dict[str, str | float | bool | None] = {}
    score_type: Literal["binary", "continuous", "levels"] | msgspec.UnsetType = msgspec.UNSET
    level_names: list[str] | msgspec.UnsetType = msgspec.UNSET
    has_unknown_level: bool | msgspec.UnsetType = msgspec.UNSET
    min_score: float | msgspec.UnsetType = msgspec.UNSET
    max_score: float | msgspec.UnsetType = msgspec.UNSET
    additional_details: Words = {}

    def __post_init__(self) -> None:
        needed: tuple[object, ...] = ()
        if self.score_type == "levels":
            needed = self.level_names, self.has_unknown_level
        elif self.score_type == "continuous":
            needed = self.min_score, self.max_score
        if msgspec.UNSET in needed:
            raise ValueError(f"a metric of the type {self.score_type} lacks its ends or levels")


class Interval(Part):
    lower: float
    upper: float
    confidence_level: Share = 0.95
    method: str = ""


class Error(Part):
    value: float
    method: str = ""


class Uncertainty(Part):
    standard_error: Error | None = None
    confidence_interval: Interval | None = None
    standard_deviation: float = 0
    num_samples: int = 0
    num_bootstrap_samples: int = 0


class Score(Part):
    score: float
    details: Words = {}
    uncertainty: Uncertainty | None = None


class Arguments(Part):
    temperature: float | None = None
    top_p: float | None = None
    top_k: float | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 1
    execution_command: str = ""
    reasoning: bool = False
    prompt_template: str = ""


class Asked(Part):
    generation_args: Arguments = msgspec.field(default_factory=Arguments)
    additional_details: Words = {}


class Result(Part):
    evaluation_name: str
    source_data: Source
    metric_config: MetricConfig
    score_details: Score
    evaluation_result_id: str = ""
    evaluation_timestamp: str = ""
    generation_config: Asked | None = None


class Document(Part):
    schema_version: Literal["0.2.2"]
    evaluation_id: str
    retrieved_timestamp: Annotated[str, msgspec.Meta(pattern=r"^\d+(\.\d+)?$")]
    source_metadata: SourceMetadata
    model_info: Model
    eval_library: Library
    evaluation_results: Annotated[list[Result], msgspec.Meta(min_length=1)]
    evaluation_timestamp: str = ""


def read(content: bytes | dict[str, Any]) -> Document:
    """The document, checked; numbers that are whole stay numbers.

    Raises:
        msgspec.ValidationError: it breaks the schema.
    """
    if isinstance(content, bytes):
        return msgspec.json.decode(content, type=Document)
    return msgspec.convert(content, Document)
