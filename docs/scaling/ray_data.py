"""Predictions for a folder of Parquet files on a Ray cluster (or on this machine, where there is none).

    pip install emotui 'ray[data]'
    python ray_data.py texts/ predicted/ --kind labels --model embedded --actors 8
    python ray_data.py texts/ predicted/ --kind labels --model hf:/shared/MODEL --actors 8 --gpus 1

TEXTS holds Parquet files with a column `text` (another one: --text), and `id` where texts have names. PREDICTED gets
their columns and those of `emotui.Predictor`; `record` is the line that `emotui predict` writes.
"""

import argparse

import ray

import emotui

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("texts")
parser.add_argument("predicted")
parser.add_argument("--kind", default="labels", help="of emotui predict")
parser.add_argument("--model", default="embedded", help="a SPEC; a directory must be there on every machine")
parser.add_argument("--text", default="text", help="the column of the texts")
parser.add_argument("--actors", type=int, default=1, help="copies of the model, fewer than cores")
parser.add_argument("--gpus", type=float, default=0, help="of a copy; .5: two share one")
# A multiple of 64: texts are asked about 64 at a time, as `emotui predict` does, so that the last digits are the same.
parser.add_argument("--batch", type=int, default=1024, help="texts that an actor gets at a time")
given = parser.parse_args()

ray.init(ignore_reinit_error=True)
cores = ray.cluster_resources().get("CPU", 0)
if given.actors >= cores:
    parser.error(f"--actors {given.actors}: there are {cores:.0f} cores, one of which has to read and write")

# Blocks come in the order of the texts.
ray.data.DataContext.get_current().execution_options.preserve_order = True

texts = ray.data.read_parquet(given.texts)
predicted = texts.map_batches(
    emotui.Predictor,  # the class, not an instance: each actor then loads its model once
    fn_constructor_kwargs={"kind": given.kind, "model": given.model, "text": given.text},
    batch_size=given.batch,
    compute=ray.data.ActorPoolStrategy(size=given.actors),
    num_cpus=1,
    num_gpus=given.gpus,
)
predicted.write_parquet(given.predicted)

written = ray.data.read_parquet(given.predicted)
print(f"{written.count()} texts, {written.filter(lambda row: row['why'] != '').count()} without an answer (column why)")
