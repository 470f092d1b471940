"""Which changes of a metric no test notices: one operator, number or condition at a time.

    python benchmarks/soundness/mutants.py MODULE:TEST_FILE[,TEST_FILE] ... [--most N] [--seconds S]

    PYTHONPATH=. python benchmarks/soundness/mutants.py metrics/tokens.py:tests/metrics/test_tokens.py --most 60

Each mutant is the module with one change, in a process of its own, with the named tests up to the first that fails (or
S seconds of processor time, which count as noticed: a loop that never ends). Of more than N mutants a sample is taken,
the same at every start. Printed are those that survive, with their line, for somebody to look at: some say the same.
"""

import argparse
import ast
import contextlib
import copy
import importlib.abc
import importlib.util
import io
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import hypothesis
import numpy
import pytest
import scipy.stats

import tests.conftest

assert hypothesis, numpy
assert scipy, tests.conftest  # imported here, once for all mutants

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult},
}

AGAIN = ("emotui.metrics", "emotui.tasks", "emotui.workbench", "emotui.commands", "emotui.formats", "tests.metrics")
"""What may hold parts of a metric's module, and is imported anew for each mutant."""

Change = Callable[[ast.AST], None]


def changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What may be made of a node, each with its name."""
    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                other = COMPARED[type(operator)]
                yield f"{type(operator).__name__} to {other.__name__}", _compare(place, other)
        case ast.BinOp(op=operator) if type(operator) in COMPUTED:
            swapped = COMPUTED[type(operator)]
            yield f"{type(operator).__name__} to {swapped.__name__}", _set("op", swapped())
        case ast.BoolOp(op=joined):
            both: ast.boolop = ast.Or() if isinstance(joined, ast.And) else ast.And()
            yield f"{type(joined).__name__} to {type(both).__name__}", _set("op", both)
        case ast.UnaryOp(op=ast.Not()):
            yield "not is gone", _set("op", ast.UAdd())
        case ast.UnaryOp(op=ast.USub()):
            yield "minus is gone", _set("op", ast.UAdd())
        case ast.IfExp() | ast.If():
            yield "the condition is always true", _set("test", ast.Constant(True))
            yield "the condition is never true", _set("test", ast.Constant(False))
        case ast.Constant(value=bool() as truth):
            yield f"{truth} to {not truth}", _set("value", not truth)
        case ast.Constant(value=int() | float() as number):
            yield f"{number} to {number + 1}", _set("value", number + 1)


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _compare(place: int, operator: type[ast.cmpop]) -> Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Compare)
        node.ops[place] = operator()

    return change


def mutants(source: str) -> list[tuple[int, str, ast.Module]]:
    """Line, name and tree of every mutant; what stands in annotations says nothing when it runs, and stays."""
    tree = ast.parse(source)
    silent = {
        id(inner)
        for node in ast.walk(tree)
        for field in ("annotation", "returns")
        if (noted := getattr(node, field, None)) is not None
        for inner in ast.walk(noted)
    }
    found = []
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in silent:
            continue
        for name, change in changes(node):
            other = copy.deepcopy(tree)
            change(list(ast.walk(other))[place])
            found.append((getattr(node, "lineno", 0), name, ast.fix_missing_locations(other)))
    return found


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module's mutant in place of it."""

    def __init__(self, name: str, tree: ast.Module, file: str) -> None:
        self.name, self.tree, self.file = name, tree, file

    def find_spec(self, fullname: str, path: object, target: object = None) -> object:  # type: ignore[override]
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self.file
        exec(compile(self.tree, self.file, "exec"), module.__dict__)


def noticed(name: str, file: str, tree: ast.Module, tests: list[str], seconds: int) -> bool:
    """Whether a test fails (or never ends) with the mutant in place of its module."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds + int(sum(os.times()[:2])), resource.RLIM_INFINITY))
        for known in [each for each in sys.modules if each.startswith(AGAIN)]:
            del sys.modules[known]
        sys.meta_path.insert(0, Mutated(name, tree, file))
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        status = 1
        with contextlib.suppress(BaseException):
            status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]))
        os._exit(status)
    _, ended = os.waitpid(child, 0)
    return ended != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", metavar="MODULE:TESTS")
    parser.add_argument("--most", type=int, default=10**9)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    alive = tried = 0
    for asked in options.modules:
        file, _, named = asked.partition(":")
        tests, source = named.split(","), Path(file).read_text(encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", *tests])  # its plug-ins are imported once
        name = "emotui." + file.removesuffix(".py").replace("/", ".").removeprefix("emotui.")
        if noticed(name, file, ast.parse(source), tests, options.seconds):
            raise SystemExit(f"{asked}: the tests fail as it is")
        every = mutants(source)
        chosen = every if len(every) <= options.most else random.Random(file).sample(every, options.most)
        survived = 0
        for line, what, tree in sorted(chosen, key=lambda mutant: mutant[0]):
            if not noticed(name, file, tree, tests, options.seconds):
                survived += 1
                print(f"{file}:{line}: {what}: {source.splitlines()[line - 1].strip()}", flush=True)
        print(f"{file}: {survived} of {len(chosen)} survive ({len(every)} there are)", flush=True)
        alive, tried = alive + survived, tried + len(chosen)
    print(f"in all {alive} of {tried} survive: {100 * alive / max(1, tried):.1f}%")


if __name__ == "__main__":
    main()
