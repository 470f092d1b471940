"""Predictions for a data set of the Hugging Face library `datasets`, on this machine.

    pip install emotui datasets
    python hf_datasets.py texts.parquet predicted/ --kind labels --model embedded --processes 4

TEXTS is what `datasets.load_dataset` takes: a file (.parquet, .csv, .jsonl) or a name on the hub. PREDICTED is a
folder as `save_to_disk` writes it, with the columns of `emotui.Predictor`.
"""

import argparse
from pathlib import Path

import datasets

import emotui

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("texts")
parser.add_argument("predicted")
parser.add_argument("--split", default="train")
parser.add_argument("--kind", default="labels", help="of emotui predict")
parser.add_argument("--model", default="embedded", help="a SPEC")
parser.add_argument("--text", default="text", help="the column of the texts")
parser.add_argument("--processes", type=int, default=1, help="each loads a model of its own")
given = parser.parse_args()

if __name__ == "__main__":
    kinds = {".parquet": "parquet", ".csv": "csv", ".jsonl": "json"}
    kind = kinds.get(Path(given.texts).suffix)
    texts = datasets.load_dataset(kind or given.texts, data_files=given.texts if kind else None, split=given.split)
    predictor = emotui.Predictor(given.kind, given.model, text=given.text)
    # A multiple of 64: texts are asked about 64 at a time, as by `emotui predict`, so that all digits are the same.
    predicted = texts.map(predictor, batched=True, batch_size=1024, num_proc=given.processes)
    predicted.save_to_disk(given.predicted)
    without = sum(why != "" for why in predicted["why"])
    print(f"{len(predicted)} texts, {without} without an answer (column why)")
