"""Why a model answers as it does: what its answer becomes without some of the words, under other questions."""
