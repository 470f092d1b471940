"""Which changes of a metric no test notices: one operator, number, condition or call at a time.

    PYTHONPATH=. python benchmarks/soundness/mutants.py [MODULE ...] [--tests PATH ...] [--most N] [--seconds S]

    PYTHONPATH=. python benchmarks/soundness/mutants.py metrics/tokens.py metrics/spans.py

Without modules all of `metrics/` are changed; the tests are those of `tests/metrics`. They are collected once and run
once, to know how long each takes and which lines it reaches. Each mutant is then the module with one change, in a
process that was forked for it, with the tests that reach the changed statement, the quickest first, up to the first
that fails, for S seconds (10) at most; three times the time they take is noticed too (a loop that never ends). Of more
than N mutants of a module a sample is taken, the same at every start. Printed are those that survive, for somebody to
look at, and a row a module. Needs `coverage`.
"""

import argparse
import gc
import math
import os
import pickle
import random
import resource
import sys
import time
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import coverage
import hypothesis
import msgspec
import pytest

from benchmarks.soundness.changes import Module, Mutant

ROOT = Path(__file__).resolve().parents[2]
MORE = 10
"""Seconds of processor time that a mutant has beyond three times those that its tests take."""
MEMORY = 4 << 30
"""Bytes of addresses that a mutant may have beyond those of the process it is forked from."""


class Reach(msgspec.Struct):
    """What a run of all tests showed: seconds of each, and which of them reach a line (-1: it runs while importing)."""

    seconds: list[float]
    lines: dict[str, dict[int, set[int]]]
    failing: list[str]
    """These fail as the modules are, and are left out."""

    def tests(self, file: str, lines: range, most: float) -> list[int]:
        """The quickest tests that reach one of the lines and take so many seconds together; -1 is first of all."""
        return self.quickest({test for line in lines for test in self.lines.get(file, {}).get(line, ())}, most)

    def quickest(self, tests: Iterable[int], most: float) -> list[int]:
        """Those of the tests that take so many seconds together, the quickest first."""
        ordered = sorted(tests, key=self.takes)
        return [
            test for test, total in zip(ordered, accumulate(map(self.takes, ordered)), strict=True) if total <= most
        ]

    def takes(self, test: int) -> float:
        return self.seconds[test] if test >= 0 else -1


class Row(msgspec.Struct):
    """What became of a module's mutants."""

    module: str
    there_are: int
    tried: int
    alive: list[str]

    def __str__(self) -> str:
        noticed = self.tried - len(self.alive)
        return f"| `{self.module}` | {self.there_are} | {self.tried} | {noticed} | {len(self.alive)} |"


class Mutating:
    """A plug-in of pytest that runs the collected tests on mutants, instead of running them once."""

    def __init__(self, modules: list[Path], most: int, seconds: float) -> None:
        self.modules, self.most, self.seconds = modules, most, seconds
        self.failed = False
        self.rows: list[Row] = []

    def pytest_configure(self) -> None:
        # A mutant that fails is noticed: nobody waits for the smallest example, or for as many as otherwise.
        hypothesis.settings.register_profile(
            "mutants",
            hypothesis.settings.default,
            database=None,
            max_examples=40,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        session.config.pluginmanager.unregister(name="terminalreporter")  # a point for each test of each mutant
        gc.unfreeze()
        reach = self._reach(session)
        for module in self.modules:
            self.rows.append(self._module(session, module, reach))
            print(self.rows[-1], flush=True)
        return True

    def _run(self, session: pytest.Session, tests: list[int]) -> bool:
        """Whether all these tests pass."""
        for test in tests:
            item = session.items[test]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.failed:
                return False
        return True

    def _reach(self, session: pytest.Session) -> Reach:
        reading, writing = os.pipe()
        if os.fork() == 0:
            _silence()
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(self._measured(session), pipe)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            found: Reach = pickle.load(pipe)
        os.wait()
        print(*(f"{test}: fails as it is" for test in found.failing), sep="\n", flush=True)
        return found

    def _measured(self, session: pytest.Session) -> Reach:
        measured = coverage.Coverage(data_file=None, include=[str(module) for module in self.modules])
        seconds = []
        measured.start()
        for module in self.modules:  # again, to see which functions run while it is imported
            exec(compile(module.read_bytes(), module, "exec"), {"__name__": f"emotui.metrics.{module.stem}"})
        for test in range(len(session.items)):
            measured.switch_context(str(test))
            begun = time.process_time()
            passes = self._run(session, [test])
            self.failed = False
            seconds.append(time.process_time() - begun if passes else math.inf)
            measured.switch_context("")
        measured.stop()
        failing = [item.nodeid for item, took in zip(session.items, seconds, strict=True) if took == math.inf]
        data, lines = measured.get_data(), {}
        for file in data.measured_files():
            known = data.contexts_by_lineno(file)
            lines[file] = {line: {int(name or -1) for name in names} for line, names in known.items()}
        return Reach(seconds, lines, failing)

    def _module(self, session: pytest.Session, module: Path, reach: Reach) -> Row:
        source = module.read_text(encoding="utf-8")
        changed = Module(source, str(module))
        order = list(range(len(changed.changes)))
        random.Random(module.name).shuffle(order)
        chosen = [mutant for number in sorted(order[: self.most]) if (mutant := changed.mutant(number))]
        shown = str(module.relative_to(ROOT))
        alive = []
        functions = _functions(f"emotui.metrics.{module.stem}")
        for mutant in sorted(chosen, key=lambda each: each.line):
            if not self._noticed(session, module, mutant, functions, reach):
                alive.append(f"{shown}:{mutant.line}: {mutant.what}: {source.splitlines()[mutant.line - 1].strip()}")
                print(alive[-1], flush=True)
        return Row(shown, len(order), len(chosen), alive)

    def _noticed(
        self,
        session: pytest.Session,
        module: Path,
        mutant: Mutant,
        functions: dict[tuple[str, int], list[FunctionType]],
        reach: Reach,
    ) -> bool:
        """Whether a test fails (or never ends) with the mutant in place of its module."""
        tests = reach.tests(str(module), mutant.lines, self.seconds)
        changed = [(function, code) for code in mutant.functions for function in functions.get(_key(code), ())]
        if (
            -1 in tests or not mutant.functions
        ):  # who uses what a module makes while it is imported reaches no line of it
            tests, changed = reach.quickest(range(len(session.items)), self.seconds), []
        if not tests:
            return False
        child = os.fork()
        if child == 0:
            _silence()
            limit = int(sum(os.times()[:2]) + 3 * sum(map(reach.takes, tests)) + MORE)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY))
            status = 1
            try:
                for function, code in changed:
                    function.__code__ = code
                if not changed:
                    _put(f"emotui.metrics.{module.stem}", mutant)
                status = int(not self._run(session, tests))
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        return ended != 0


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _functions(name: str) -> dict[tuple[str, int], list[FunctionType]]:
    """The functions of a module that are there now, by name and first line."""
    found: dict[tuple[str, int], list[FunctionType]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__module__ == name:  # some objects load modules when asked for a class
            found.setdefault(_key(each.__code__), []).append(each)
    return found


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _put(name: str, mutant: Mutant) -> None:
    """Puts what a changed module makes while it is imported in place of what is there, in whoever has imported it."""
    old, new = sys.modules[name], ModuleType(name)
    new.__file__ = old.__file__
    exec(mutant.module, new.__dict__)
    for each in mutant.names & vars(new).keys():
        was, now = vars(old)[each], vars(new)[each]
        if isinstance(was, FunctionType):
            was.__defaults__, was.__kwdefaults__ = now.__defaults__, now.__kwdefaults__
            continue
        for module in list(sys.modules.values()):
            if getattr(module, "__dict__", {}).get(each) is was:
                setattr(module, each, now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", type=Path, metavar="MODULE")
    parser.add_argument("--tests", nargs="+", default=["tests/metrics"], metavar="PATH")
    parser.add_argument("--most", type=int, default=10**9, metavar="N", help="mutants of a module")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="of tests for a mutant")
    options = parser.parse_args()
    modules = [each.resolve() for each in options.modules or sorted((ROOT / "metrics").glob("*.py"))]
    mutating = Mutating(modules, options.most, options.seconds)
    left_out = ["no:cacheprovider", "no:timeout"]
    arguments = [*(f"-p{each}" for each in left_out), "-m", "not slow and not gpu", *options.tests]
    pytest.main(arguments, plugins=[mutating])
    print("| module | mutants | tried | noticed | survive |\n|---|---|---|---|---|", *mutating.rows, sep="\n")
    tried, alive = sum(row.tried for row in mutating.rows), sum(len(row.alive) for row in mutating.rows)
    print(f"{alive} of {tried} survive: {100 * alive / max(1, tried):.1f}%")


if __name__ == "__main__":
    main()
