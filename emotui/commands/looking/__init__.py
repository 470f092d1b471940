"""Commands of error analysis: notes, codes and slices of a dataset's samples."""
