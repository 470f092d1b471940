"""How quickly keys and bars follow a person who types: `python benchmarks/typing.py --help`.

The measurement is in `typing_speed.py`. This file has the name of a module of the standard library, which Python would
look for here first whenever a script of this folder is run; so whoever imports `typing` from here gets the real one.
"""

import sys

_PATH = list(sys.path)
sys.path[:] = [folder for folder in _PATH if folder.rstrip("/\\").rpartition("/")[2] != "benchmarks"]

if __name__ == "__main__":
    import runpy
    from pathlib import Path

    runpy.run_path(str(Path(__file__).with_name("typing_speed.py")), run_name="__main__")
else:
    del sys.modules[__name__]
    import typing  # noqa: F401 - the real one, which takes this module's place

    sys.path[:] = _PATH  # the other scripts of this folder import from each other
