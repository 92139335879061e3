"""All mutants of a module: its text with one place changed.

Another comparison, sign, number or operator; a condition that is always met, or never; two arguments exchanged; a named
argument or a statement left out; nothing returned. Annotations, decorators, assertions and texts are left alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SKIPPED = {"annotation", "returns", "decorator_list", "format_spec"}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Functions that do not mind the order, and one that would always be caught.
NOT_EXCHANGED = {"max", "min", "np.array_equal", "np.logaddexp", "np.maximum", "special.betaln", "isinstance"}
OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitAnd,),
}


@dataclass(frozen=True)
class Mutant:
    """One change: the function that it is in, the line before and after, and the whole text."""

    where: str
    was: str
    now: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its text."""
    parts = [ast.Module([part], []) for part in ast.parse(source).body]
    texts = [ast.unparse(part) for part in parts]
    for number, part in enumerate(parts):  # one by one: a text is written anew for each mutant
        for place in list(_places(part, "")):
            for other in _instead(place):
                place.put(other)
                after = ast.unparse(part)
                place.put(place.node)
                lines = zip(texts[number].splitlines(), after.splitlines(), strict=False)
                was, now = next(pair for pair in lines if pair[0] != pair[1])
                text = "\n".join([*texts[:number], after, *texts[number + 1 :]])
                yield Mutant(place.where, was.strip(), now.strip(), text)


@dataclass(frozen=True)
class _Place:
    """A node, and where it hangs."""

    parent: ast.AST
    name: str
    index: int | None
    node: ast.AST
    where: str

    def put(self, node: ast.AST) -> None:
        """Let another node stand here."""
        if self.index is None:
            setattr(self.parent, self.name, node)
        else:
            getattr(self.parent, self.name)[self.index] = node


def _places(parent: ast.AST, where: str) -> Iterator[_Place]:
    if isinstance(parent, ast.ClassDef | ast.FunctionDef):
        where = f"{where}.{parent.name}".lstrip(".")
    for name, value in ast.iter_fields(parent):
        if name in SKIPPED:
            continue
        listed: list[tuple[int | None, Any]] = [*enumerate(value)] if isinstance(value, list) else [(None, value)]
        for index, node in listed:
            if isinstance(node, ast.AST) and not _asserts(node):
                yield _Place(parent, name, index, node, where)
                yield from _places(node, where)


def _asserts(node: ast.AST) -> bool:
    """Whether this is only there to notice faults of our own."""
    raised = isinstance(node, ast.Raise) and ast.unparse(node).startswith("raise AssertionError")
    return raised or isinstance(node, ast.Assert) or (isinstance(node, ast.keyword) and node.arg == "strict")


def _instead(place: _Place) -> Iterator[ast.AST]:
    """What may stand in a place."""
    kind = type(place.node)
    yield from (other() for other in OPERATORS.get(kind, ()))
    if kind in CHANGES:
        yield from CHANGES[kind](place.node)
    if place.name in {"test", "ifs"}:
        truths = (False,) if isinstance(place.parent, ast.While) else (True, False)
        yield from map(ast.Constant, truths)


def _other_values(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield from map(ast.Constant, (value + 1, value - 1))
    elif isinstance(value, float):
        yield from map(ast.Constant, (2 * value, value / 2) if value else (1.0,))


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    args, named = node.args, node.keywords
    two = len(args) > 1 and not any(isinstance(arg, ast.Starred) for arg in args[:2])
    if two and ast.unparse(args[0]) != ast.unparse(args[1]) and ast.unparse(node.func) not in NOT_EXCHANGED:
        yield ast.Call(node.func, [args[1], args[0], *args[2:]], named)
    for left_out in named:
        if left_out.arg not in {None, "strict"}:
            yield ast.Call(node.func, args, [keyword for keyword in named if keyword is not left_out])


def _without(node: ast.Expr | ast.Assign) -> Iterator[ast.AST]:
    """A statement left out; no docstring, and no local name, which would only be missed."""
    if isinstance(node, ast.Expr):
        kept = isinstance(node.value, ast.Constant)
    else:
        kept = not any(isinstance(written, ast.Attribute | ast.Subscript) for written in node.targets)
    if not kept:
        yield ast.Pass()


def _dropped(_: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


def _nothing(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is not None and ast.unparse(node.value) != "None":
        yield ast.Return(ast.Constant(None))


def _operand(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _other_name(node: ast.Name) -> Iterator[ast.AST]:
    if node.id in NAMES:
        yield ast.Name(NAMES[node.id])


CHANGES: dict[type[ast.AST], Callable[[Any], Iterator[ast.AST]]] = {
    ast.Assign: _without,
    ast.AugAssign: _dropped,
    ast.Call: _other_calls,
    ast.Constant: _other_values,
    ast.Continue: _dropped,
    ast.Expr: _without,
    ast.Name: _other_name,
    ast.Raise: _dropped,
    ast.Return: _nothing,
    ast.UnaryOp: _operand,
}
