#!/bin/bash
# Predictions for one file of texts by vLLM's offline batches: emotui writes the questions and reads the answers.
#
#   vllm_batch.sh /shared/texts.jsonl /shared/work ORG/MODEL labels --way zero-shot --labels labels.txt
#
# Arguments: the file; a folder for all that comes of it; the model as vLLM knows it; the task; further options that
# `emotui batch write` and `emotui predict` share. On several GPUs or machines, cut the texts into files, one each.
#
# Where 800 bytes a request and an answer are too many to keep, docs/scaling.md tells how both become Parquet.
#
# Called again it goes on: a round that was answered is not asked again. In FOLDER: ask-N.jsonl (questions of round N),
# said/N.jsonl (answers), predicted.jsonl (in the order of the texts, as `emotui predict` writes it).
set -eu
texts=$1 folder=$2 model=$3 task=$4
shift 4
mkdir -p "$folder/said"

# What a task asks again by what it was answered (an answer that breaks its form) takes a round more.
for round in 1 2 3 4 5; do
    ask=$folder/ask-$round.jsonl said=$folder/said/$round.jsonl
    if [ ! -e "$said" ]; then
        emotui batch write "$task" --model "$model" --records "$texts" --answers "$folder/said" --to "$ask" --force "$@"
        [ -s "$ask" ] || break
        vllm run-batch -i "$ask" -o "$said.unfinished" --model "$model"
        mv "$said.unfinished" "$said"
    fi
done

# Texts with gold become a run with its figures instead: emotui batch read "$task" --model "$model" \
#     --answers "$folder/said" --dataset "$texts" --db "$folder/answers.duckdb" -- "$@"
emotui predict "$task" --model "batch:$model@$folder/said" --records "$texts" --to "$folder/predicted.jsonl" --force "$@"
