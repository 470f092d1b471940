"""Several labels a text, out of any label set."""
