"""The mutants of a module: one operator, number, condition or call changed at a time."""

import ast
import inspect
from collections.abc import Callable, Iterator
from types import CodeType

import msgspec

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.MatMult: ast.Mult},
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}

GUARDS = {"strict", "frozen", "kw_only", "gc", "slots"}
"""Keywords against the program's own mistakes (`zip(strict=True)`), or of how a record is kept: not changed."""

Change = Callable[[ast.AST], None]


class Mutant(msgspec.Struct):
    """A module with one change."""

    line: int
    what: str
    lines: range
    """Those of the changed statement, without a body that it may have."""
    functions: list[CodeType]
    """The functions and methods that are other ones by it; none where what is computed while importing is changed."""
    module: CodeType
    names: set[str]
    """What the module calls the things that the outermost statement makes, and those made of them."""


def changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """What may be made of a node, each with its name."""
    match node:
        case ast.Compare(ops=ops):
            for place, operator in enumerate(ops):
                other = COMPARED[type(operator)]
                yield f"{type(operator).__name__} to {other.__name__}", _compare(place, other)
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in COMPUTED:
            swapped = COMPUTED[type(operator)]
            yield f"{type(operator).__name__} to {swapped.__name__}", _set("op", swapped())
        case ast.BoolOp(op=joined):
            both: ast.boolop = ast.Or() if isinstance(joined, ast.And) else ast.And()
            yield f"{type(joined).__name__} to {type(both).__name__}", _set("op", both)
        case ast.UnaryOp(op=ast.Not()):
            yield "not is gone", lambda each: setattr(each, "operand", ast.UnaryOp(ast.Not(), each.operand))
        case ast.UnaryOp(op=ast.USub()):
            yield "minus is gone", _set("op", ast.UAdd())
        case ast.IfExp() | ast.If():
            yield "the condition is always true", _set("test", ast.Constant(True))
            yield "the condition is never true", _set("test", ast.Constant(False))
        case ast.Constant(value=bool() as truth):
            yield f"{truth} to {not truth}", _set("value", not truth)
        case ast.Constant(value=int() | float() as number):
            yield f"{number} to {number + 1}", _set("value", number + 1)
        case ast.Call(func=ast.Name(id=name)) if name in CALLED:
            yield f"{name} to {CALLED[name]}", _set("func", ast.Name(CALLED[name], ast.Load()))
        case ast.Expr(value=ast.Call()):
            yield "the call is gone", _set("value", ast.Constant(None))
        case ast.Continue():
            yield "continue to break", lambda each: setattr(each, "__class__", ast.Break)


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _compare(place: int, operator: type[ast.cmpop]) -> Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Compare)
        node.ops = [operator() if each == place else kept for each, kept in enumerate(node.ops)]

    return change


class Module:
    """A module's source, and what one change at a time makes of it."""

    def __init__(self, source: str, file: str) -> None:
        self.tree, self.file = ast.parse(source), file
        self.code = compile(self.tree, file, "exec")
        self.functions = functions_of(self.code)
        self.headers = _headers(self.tree)
        silent = _silent(self.tree)
        self.changes = [
            (node, what, change)
            for node in ast.walk(self.tree)
            if id(node) not in silent
            for what, change in changes(node)
        ]

    def mutant(self, number: int) -> Mutant | None:
        """The module with one of its changes; nothing where Python compiles it to the same."""
        node, what, change = self.changes[number]
        kept, kind = dict(vars(node)), type(node)
        change(node)
        code = compile(ast.fix_missing_locations(self.tree), self.file, "exec")
        node.__class__ = kind
        vars(node).update(kept)
        if code == self.code:
            return None
        changed = [each for key, each in functions_of(code).items() if self.functions.get(key) != each]
        line = getattr(node, "lineno", 0)
        return Mutant(line, what, self.headers[id(node)], changed, code, _names(self.tree, line))


def _names(tree: ast.Module, line: int) -> set[str]:
    """What a module-level statement binds, and the later ones that mention it."""
    found: set[str] = set()
    for statement in tree.body:
        mentions = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        holds = statement.lineno <= line <= (statement.end_lineno or 0)
        if isinstance(statement, ast.FunctionDef):  # its body finds what is new by itself, its defaults do not
            mentions = {node.id for node in ast.walk(statement.args) if isinstance(node, ast.Name)}
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            found |= {statement.name} if holds or mentions & found else set()
        elif holds or mentions & found:
            found |= {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
    return found


def _headers(tree: ast.Module) -> dict[int, range]:
    """The lines of the innermost statement that a node stands in, without those of its body."""
    found: dict[int, range] = {}

    def note(node: ast.AST, lines: range) -> None:
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            lines = range(node.lineno, max(node.lineno, body[0].lineno - 1 if body else node.end_lineno or 0) + 1)
        found[id(node)] = lines
        for inner in ast.iter_child_nodes(node):
            note(inner, lines)

    note(tree, range(1, 1))
    return found


def _silent(tree: ast.Module) -> set[int]:
    """What stands in annotations, in decorators and behind the words of `GUARDS`."""
    silent: list[ast.AST | None] = []
    for node in ast.walk(tree):
        silent += [getattr(node, "annotation", None), getattr(node, "returns", None)]
        silent += getattr(node, "decorator_list", ())
        silent += [each for each in getattr(node, "keywords", ()) if each.arg in GUARDS]
    return {id(inner) for node in silent if node is not None for inner in ast.walk(node)}


def functions_of(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """The functions of a module and the methods of its classes, by name and first line."""
    found = {}
    for inner in code.co_consts:
        if not isinstance(inner, CodeType):
            continue
        if not inner.co_flags & inspect.CO_OPTIMIZED:
            found |= functions_of(inner)
        elif not inner.co_name.startswith("<") or inner.co_name == "<lambda>":
            found[inner.co_qualname, inner.co_firstlineno] = inner
    return found
