"""One DuckDB file a workspace: datasets, samples, runs, raw outputs, predictions, scores, annotations, settings."""
