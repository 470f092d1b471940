"""Embeddings are pooled as a model's own files say: beside sentence-transformers itself, over files that it wrote."""

import json
from pathlib import Path

import numpy as np
import pytest

from emotui.backends.base import Embed
from emotui.backends.hf.masked import first_token, mean, pooling_of
from emotui.errors import ModelError
from tests.backends.hf import models as hf_models
from tests.backends.hf.test_kinds import TEXTS, open_model


def wrote(folder: Path, *modules: tuple[str, dict[str, object]]) -> Path:
    """The files of a model with these modules behind it."""
    folder.mkdir(exist_ok=True)
    listed = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for place, (kind, config) in enumerate(modules, 1):
        path = f"{place}_{kind}"
        (folder / path).mkdir()
        (folder / path / "config.json").write_text(json.dumps(config))
        listed.append({"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"})
    (folder / "modules.json").write_text(json.dumps(listed))
    return folder


def test_embeddings_equal_those_of_sentence_transformers_whatever_the_pooling(tmp_path: Path) -> None:
    import torch
    from sentence_transformers import SentenceTransformer, models

    for mode in ("mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean"):
        folder = hf_models.bert(tmp_path / f"plain-{mode}", head="none")
        reader = models.Transformer(str(folder))
        torch.manual_seed(3)
        behind = [models.Dense(32, 8)] if mode == "max" else []
        whole = SentenceTransformer(
            modules=[reader, models.Pooling(32, pooling_mode=mode), *behind, models.Normalize()]
        )
        whole.save(str(tmp_path / mode))
        found = open_model(tmp_path / mode).embed([Embed(text) for text in TEXTS])
        assert found == pytest.approx(whole.encode(list(TEXTS), normalize_embeddings=True), abs=1e-5), mode


def test_without_files_it_is_the_mean_and_a_plain_mean_or_first_token_needs_no_other_package(tmp_path: Path) -> None:
    old = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False}
    assert pooling_of(tmp_path) is mean
    assert pooling_of(wrote(tmp_path / "a", ("Pooling", old), ("Normalize", {}))) is mean
    assert pooling_of(wrote(tmp_path / "b", ("Pooling", {"pooling_mode": "cls"}))) is first_token
    alone = tmp_path / "c"
    (alone / "1_Pooling").mkdir(parents=True)
    (alone / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    assert pooling_of(alone) is first_token


def test_what_cannot_be_run_or_read_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"a embeds with sentence_transformers\.models\.LSTM, which emotui does not run"
    ):
        pooling_of(wrote(tmp_path / "a", ("LSTM", {})))
    dense = {"in_features": 4, "out_features": 2}
    with pytest.raises(ModelError, match="2_Dense has no safetensors"):
        pooling_of(
            wrote(tmp_path / "b", ("Pooling", {"embedding_dimension": 4, "pooling_mode": "mean"}), ("Dense", dense))
        )
    wrote(tmp_path / "c", ("Pooling", {})).joinpath("modules.json").write_text('[1, {"path": 3}]')
    with pytest.raises(ModelError, match=r"c/modules\.json is not what sentence-transformers writes"):
        pooling_of(tmp_path / "c")
    wrote(tmp_path / "d", ("Pooling", {})).joinpath("1_Pooling", "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"1_Pooling/config\.json cannot be read"):
        pooling_of(tmp_path / "d")


def test_the_first_token_is_the_first_that_is_no_padding() -> None:
    import torch

    states = torch.tensor([[[9.0, 9.0], [0.0, 2.0], [5.0, 5.0]], [[3.0, 0.0], [1.0, 1.0], [9.0, 9.0]]])
    mask = torch.tensor([[0, 1, 1], [1, 1, 0]])
    assert first_token(states, mask) == pytest.approx(np.array([[0, 1], [1, 0]]))
    assert mean(states, mask)[1] == pytest.approx(np.array([4, 1]) / 17**0.5)
