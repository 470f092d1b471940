"""What imports what: no module imports itself by way of others, and no room of the screens another that needs it."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import emotui

ROOT = Path(emotui.__file__).parent

Graph = dict[str, set[str]]
"""By the name of a module: the modules it imports."""


def module_files() -> dict[str, Path]:
    """By name. In a bare checkout some of the packages stand beside `emotui`, and so does what is none of its own."""
    found = {}
    for root in map(Path, emotui.__path__):
        folders = [path.parent for path in root.glob("*/__init__.py") if path.parent.name not in ("emotui", "tests")]
        for path in [*ROOT.glob("*.py"), *(path for folder in folders for path in folder.rglob("*.py"))]:
            parts = ("emotui", *path.relative_to(ROOT if path.parent == ROOT else root).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(tree: ast.AST, known: Mapping[str, Path], *, late: bool) -> Iterator[str]:
    """The modules that a tree imports; `late`: also those inside functions, by `import_module`, and for types."""
    if late:
        yield from named_to_import_module(tree, known)
    yield from by_statements(tree, known, late=late)


def named_to_import_module(tree: ast.AST, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules whose names are written out in calls of `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if function == "import_module" and node.args[0].value in known:
                yield node.args[0].value


def by_statements(tree: ast.AST, known: Mapping[str, Path], *, late: bool) -> Iterator[str]:
    """The modules that the statements of a tree import."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if full in known or node.module in known:
                    yield full if full in known else node.module
        elif late or not (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or for_types(node)):
            yield from by_statements(node, known, late=late)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases just inside another one: expressions import nothing."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(tree, name, ())


def for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def graph(*, late: bool) -> Graph:
    known = module_files()
    return {
        name: set(imported(ast.parse(path.read_text(encoding="utf-8")), known, late=late)) - {name}
        for name, path in known.items()
    }


def circles(modules: Graph) -> list[list[str]]:
    """Groups of modules of which each reaches each."""
    reach: Graph = {}
    for start in modules:
        seen: set[str] = set()
        todo = list(modules[start])
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += modules.get(name, ())
        reach[start] = seen
    groups = {
        tuple(sorted({start, *(other for other in reach[start] if start in reach.get(other, ()))}))
        for start in modules
        if start in reach[start]
    }
    return [list(group) for group in sorted(groups)]


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, [["b", "c"]]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_a_circle_is_found_wherever_it_is_entered(modules: Graph, expected: list[list[str]]) -> None:
    assert circles(modules) == expected


def test_a_module_that_is_named_to_import_module_is_imported() -> None:
    tree = ast.parse(
        'def f():\n    return [import_module("a.b").X, importlib.import_module("a.c"), import_module("d")]'
    )
    known = {"a.b": Path(), "a.c": Path()}
    assert set(imported(tree, known, late=True)) == {"a.b", "a.c"}
    assert set(imported(tree, known, late=False)) == set()


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert circles(graph(late=False)) == []


def test_nor_when_a_function_is_called_or_by_import_module_or_for_the_sake_of_types() -> None:
    assert circles(graph(late=True)) == []


def test_the_rooms_of_the_screens_stand_in_no_circle() -> None:
    """A room is a file or a folder right under `screens`."""

    def room(name: str) -> str | None:
        parts = name.split(".")
        return parts[2] if parts[:2] == ["emotui", "screens"] and len(parts) > 2 else None

    rooms: Graph = {}
    for name, others in graph(late=True).items():
        here = room(name)
        if here is not None:
            rooms.setdefault(here, set()).update({there for other in others if (there := room(other))} - {here})
    assert len(rooms) > 10
    assert circles(rooms) == []
