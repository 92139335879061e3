"""A tree as C99: a struct for one input, a function for its label, no memory to allocate and no library but string.h.

Categories are small numbers in the struct, so that a test is an integer comparison; a function for each feature turns
its values into these numbers. A cut that decimal digits cannot write exactly is written in hexadecimal, which every
compiler reads as the same number, also one that computes with more bits than a double has.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from decimal import Decimal
from typing import Any

from fidelitree.errors import ParameterError, show
from fidelitree.export.clauses import clauses, identifiers, is_identifier, threshold
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.answers import DEFER, answers_of
from fidelitree.trees.gaps import gaps_of
from fidelitree.trees.tree import Tree, check_tree

_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while alignas alignof
asm bool catch class constexpr delete explicit export false friend mutable namespace new noexcept nullptr operator
private protected public template this throw true try typeid typename typeof using virtual wchar_t and bitand bitor
compl not or xor NULL linux unix main strcmp signbit INFINITY NAN
"""
_TAKEN = frozenset(_WORDS.split())
_WIDTH = 110


def to_c(tree: Tree, name: str = "predict") -> str:
    """Source of ``struct NAME_input`` with a member for each feature and ``NAME(const struct NAME_input *)``.

    A bit is an int, 0 or 1; a number a double, NaN where it is missing and its comment says that it may be; a category
    an int, which ``NAME_FEATURE(value)`` gives: -1 where the tree does not know the value. Labels are int (long long
    where one needs it), bool, or strings that need not be freed. Text is UTF-8. A leaf that defers returns a null
    pointer, or ``NAME_DEFER``, a number that is no label.
    With NaN, compile without -ffast-math.

    >>> from fidelitree.spaces.features import Numeric
    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace([Numeric("age", 18, 90)])
    >>> print(to_c(Tree.build(space, [(AtMost(0, 32.5), 1, 2), 0, 1], ["high", "low"])), end="")
    struct predict_input {
        double age; /* "age" */
    };
    <BLANKLINE>
    const char *predict(const struct predict_input *x)
    {
        if (x->age <= 32.5) {
            return "low";
        }
        return "high";
    }
    """
    check_tree(tree)
    if not is_identifier(name) or name in _TAKEN:
        raise ParameterError(f"name must be a C identifier that is not taken; got {show(name)}")
    members = identifiers(tree.names, {*_TAKEN, "input"})
    lookups = [line for i, member in enumerate(members) for line in _lookup(tree, i, f"{name}_{member}")]
    kind = tree.labels.dtype.kind
    includes = ["#include <stdbool.h>"] * (kind == "b") + ["#include <string.h>"] * any("strcmp" in s for s in lookups)
    includes += _deferred(tree, name)
    lines = [*includes, *[""] * bool(includes), f"struct {name}_input {{"]
    for i, member in enumerate(members):
        lines += _member(tree, i, member)
    lines += ["};", "", *lookups, f"{_label_type(tree)}{name}(const struct {name}_input *x)", "{"]
    return "\n".join([*lines, *_body(tree, members, f"{name.upper()}_DEFER"), "}"]) + "\n"


def _deferred(tree: Tree, name: str) -> list[str]:
    """The number of "ask the target", where labels are numbers: one below all of them, or above."""
    known = answers_of(tree.labels.tolist())
    if not tree.defers or isinstance(known[0], str):
        return []
    free = known[0] - 1 if known[0] > -(2**31) + 1 or known[-1] >= 2**31 - 1 else known[-1] + 1
    return [f"#define {name.upper()}_DEFER ({_whole(int(free))}) /* ask the target */"]


def _body(tree: Tree, members: list[str], deferred: str) -> list[str]:
    lines = ["    (void)x;"] if tree.size == 1 else []
    for clause in clauses(tree):
        indent = "    " * (clause.depth + 1)
        if clause.yes is None:
            lines.append(f"{indent}return {_answer(tree, tree.label(clause.node), deferred)};")
            lines += [f"{indent[4:]}}}"] * (clause.depth > 0)
        else:
            lines += _wrapped(f"{indent}if ({_condition(tree, clause.node, clause.yes, members)}) {{", indent)
    return lines


def _condition(tree: Tree, node: int, yes: bool, members: list[str]) -> str:
    test = tree.test(node)
    member = f"x->{members[test.feature]}"
    if isinstance(test, AtMost):
        return threshold(test, yes, member, _number, "!")
    if isinstance(test, IsIn):
        runs = [_run(member, first, last) for first, last in _runs(sorted(test.codes))]
        inside = " || ".join(f"({run})" for run in runs) if len(runs) > 1 else runs[0]
        return inside if yes else f"!({inside})"
    return member if yes else f"!{member}"


def _runs(codes: list[int]) -> list[tuple[int, int]]:
    """Codes as runs of neighbours."""
    groups = [[code for _, code in group] for _, group in itertools.groupby(enumerate(codes), lambda p: p[1] - p[0])]
    return [(group[0], group[-1]) for group in groups]


def _run(member: str, first: int, last: int) -> str:
    return f"{member} == {first}" if first == last else f"{member} >= {first} && {member} <= {last}"


def _member(tree: Tree, feature: int, member: str) -> list[str]:
    name, values = tree.names[feature], tree.values[feature] if tree.values else None
    if values is None:
        kind = "double" if tree.kinds[feature] == "numeric" else "int"
        note = ": 0 or 1" if kind == "int" else ", NAN if missing" * (feature in gaps_of(tree.tests.values()))
        return [f"    {kind} {member}; /* {_remark(name)}{note} */"]
    lines = [f"    int {member}; /* {_remark(name)}, one of these numbers, or -1 for any other value:"]
    lines += [f"        {code}: {_remark(value)}" for code, value in enumerate(values)]
    return [*lines[:-1], f"{lines[-1]} */"]


def _lookup(tree: Tree, feature: int, function: str) -> list[str]:
    """A function from a feature's values to their numbers; none where C has no type for all of them."""
    values = (tree.values[feature] if tree.values else None) or ()
    kinds = {type(value) for value in values if value is not None}
    if kinds == {str}:
        missing = values.index(None) if None in values else -1
        lines = [
            f"int {function}(const char *value)",
            "{",
            "    if (value == NULL) {",
            f"        return {missing};",
            "    }",
        ]
        tests = [(f"strcmp(value, {_string(value)}) == 0", value) for value in values if value is not None]
    elif None not in values and kinds and kinds <= {int, bool} and all(-(2**63) <= value < 2**63 for value in values):
        lines = [f"int {function}(long long value)", "{"]
        tests = [(f"value == {_whole(int(value))}", value) for value in values]
    else:
        return []
    for test, value in tests:
        lines += [f"    if ({test}) {{", f"        return {values.index(value)};", "    }"]
    return [*lines, "    return -1;", "}", ""]


def _label_type(tree: Tree) -> str:
    labels = answers_of(tree.labels.tolist())
    if isinstance(labels[0], str):
        return "const char *"
    if isinstance(labels[0], bool):
        return "int " if tree.defers else "bool "
    if isinstance(labels[0], float):
        return "double "
    return "int " if labels[0] > -(2**31) and labels[-1] < 2**31 else "long long "


def _answer(tree: Tree, label: Any, deferred: str) -> str:
    if not tree.defers or isinstance(label, str):
        return _label(label)
    if label is DEFER:
        return "0 /* ask the target */" if isinstance(tree.labels.item(0), str) else deferred
    return _whole(int(label))


def _label(label: Any) -> str:
    if isinstance(label, str):
        return _string(label)
    if isinstance(label, float):
        return repr(label)
    return ("true" if label else "false") if isinstance(label, bool) else _whole(label)


def _whole(number: int) -> str:
    if -(2**31) < number < 2**31:
        return str(number)
    return f"{number}LL" if number > -(2**63) else f"({number + 1}LL - 1)"


def _number(cut: float) -> str:
    """A double: in decimal where that is exact, else in hexadecimal with the decimal beside it."""
    text = repr(cut)
    return text if Decimal(text) == Decimal(cut) else f"{cut.hex()} /* {text} */"


def _string(text: str) -> str:
    """A string literal in ASCII; ``?`` is escaped because two of them begin a trigraph."""
    if "\0" in text:
        raise ParameterError(f"text must hold no NUL, which ends a string in C; got {text!r}")
    return '"' + "".join(map(_octet, text.encode("utf-8", "surrogatepass"))) + '"'


def _octet(octet: int) -> str:
    character = chr(octet)
    if character in '"\\?':
        return f"\\{character}"
    return character if 32 <= octet < 127 else f"\\{octet:03o}"


def _remark(value: Any) -> str:
    """A name or value inside a comment, which it can neither end nor seem to begin again."""
    text = f'"{value}"' if isinstance(value, str) else str(value)
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in plain)
    return re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", plain)


def _wrapped(line: str, indent: str) -> list[str]:
    """A long condition on several lines; it holds no text that a break could change."""
    wrapper = textwrap.TextWrapper(max(_WIDTH, len(indent) + 60), break_long_words=False, break_on_hyphens=False)
    wrapper.subsequent_indent = f"{indent}        "
    return wrapper.wrap(line)
