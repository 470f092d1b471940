#!/bin/bash
# Predictions for one file of texts by a SLURM array: each task asks about a part of it.
#
#   sbatch --array=1-100 slurm_array.sh 100 /shared/texts.jsonl /shared/predicted labels embedded
#   cat /shared/predicted/part-*.jsonl > /shared/predicted.jsonl        # when all are done: the order of the texts
#
# Arguments: how many parts; the file (or folder of Parquet files); a folder for what comes out; KIND and --model of
# `emotui predict`; further options of it. The number of parts is said, and not read off the array, so that single parts
# can be sent again: sbatch --array=17,40 slurm_array.sh 100 ...
#
# A task that ran out of time goes on where it stopped when it is sent again, and one whose part is there ends at once.
# Its status is 1 where some texts were refused (its log names them) or the model went away.
#
#SBATCH --job-name=emotui
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --output=emotui-%A_%a.log
# For a model on a GPU, such as hf:/shared/MODEL:
##SBATCH --gpus=1
set -eu
parts=$1 texts=$2 folder=$3 kind=${4:-labels} model=${5:-embedded}
shift $(($# < 5 ? $# : 5))

mkdir -p "$folder"
part=$folder/part-$(printf %06d "$SLURM_ARRAY_TASK_ID").jsonl
if [ -e "$part" ]; then
    echo "$part is there"
    exit 0
fi
exec emotui predict "$kind" --model "$model" --records "$texts" --shard "$SLURM_ARRAY_TASK_ID/$parts" --to "$part" "$@"
