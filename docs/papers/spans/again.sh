#!/bin/sh
# Asks the models again in a store of its own, makes this folder anew beside, and says which tables are the same.
# sh again.sh [DIR] [further options of `emotui paper`, such as --model OLD=NEW]
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-"$here-again"}
[ $# -gt 0 ] && shift
exec emotui paper --again "$here" --to "$to" "$@"
