"""Parts of a dataset: filters with a name, figures of a source in each, rules that were found, texts that are near."""
