"""WebAnno TSV: its header, its cells, the spans out of them, and rows written so."""
