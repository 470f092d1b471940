"""`python -m emotui`, and the `emotui` command."""

import os

# Small matrices gain nothing from BLAS threads, and on a busy machine they wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from emotui.commands import main

if __name__ == "__main__":
    main()
