"""What the page is about, the certificate in one sentence, and what it does not say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fidelitree.certificates.certificate import ASSUMES_DETERMINISTIC, Certificate
from fidelitree.certificates.reportfile import NAMED
from fidelitree.display.wording import Html, at_least, at_most, counted, join, percent, shown, tag, whole
from fidelitree.spaces.rows import ASSUMES_INDEPENDENT, ASSUMES_NOT_FITTED
from fidelitree.theory.sequential import FRONTIER

if TYPE_CHECKING:
    from fidelitree.report.contents import About, Contents

_PLACE = "\0"  # of the model's name in a headline


def verdict(names: Html, head: Html, curve: Html | None, promise: Html) -> Html:
    """The names, the headline, the curve where there is one, and the certificate word for word."""
    return tag("section", names, head, curve, promise, class_="verdict", id="verdict", aria_labelledby="verdict-title")


def masthead(contents: Contents, about: About) -> Html:
    """Which model, which inputs, when; and what the author has to say."""
    facts = {
        "Model": about.target_name or contents.target_name,
        "Inputs": contents.world.in_words,
        "Written": about.date,
    }
    shown = [tag("div", tag("dt", name), tag("dd", text)) for name, text in facts.items() if text]
    return tag(
        "div",
        tag("p", about.title, class_="title") if about.title else None,
        tag("dl", *shown, class_="about"),
        tag("p", about.notes, class_="notes") if about.notes else None,
        class_="masthead",
    )


def head(contents: Contents, about: About) -> Html:
    """The headline, and the figures behind it."""
    certificate, tree = contents.certificate, contents.tree
    standing = certificate.standing
    share = f"≥ {at_least(certificate.lost)}"
    stated = tag("span", standing.badge, class_=f"status {'good' if standing.state == 'met' else 'bad'}")
    return join(
        tag("p", stated, " ", _asked_for(contents), class_="kicker"),
        tag("h1", *_named(contents, about), id="verdict-title"),
        tag(
            "dl",
            _fact("Agreement", agreement(certificate), f"{_near(certificate)}the target"),
            *([] if certificate.coverage is None else [_fact("Coverage", share, "of inputs answered")]),
            _fact("Confidence", _confidence(certificate), "that this is so"),
            _fact("Size", whole(tree.size), f"{'leaf' if tree.size == 1 else 'leaves'}, depth {tree.depth}"),
            _fact("Cost", whole(contents.queries.asked), "labels asked"),
            _baseline(certificate),
            class_="facts",
        ),
    )


def promise(contents: Contents) -> Html:
    """The certificate word for word, and what it does not say."""
    certificate, tree = contents.certificate, contents.tree
    return join(
        tag("blockquote", *(tag("p", line) for line in str(certificate).splitlines()), class_="certificate"),
        tag("ul", *(tag("li", line) for line in certificate.sentences(tree.size)), class_="easy"),
        _details(certificate),
        tag("h2", "What it does not say"),
        tag("ul", *(tag("li", line) for line in _limits(contents)), class_="limits"),
    )


def _details(certificate: Certificate) -> Html | None:
    """How the bound is worked out, for who opens it."""
    lines = certificate.details()
    if not lines:
        return None
    told = (tag("p", line) for line in lines)
    return tag("details", tag("summary", "Details: how the bound is computed"), *told, class_="note")


def _named(contents: Contents, about: About) -> Iterator[object]:
    """The headline, with the name that an author gave the model as a part of its own."""
    before, *after = headline(contents, replace(about, target_name=_PLACE)).split(_PLACE)
    yield before
    for text in after:
        yield tag("span", about.target_name, class_=NAMED) if about.target_name else "the target"
        yield text


def headline(contents: Contents, about: About) -> str:
    """One sentence for somebody who reads no other."""
    certificate, size = contents.certificate, counted(contents.tree.size, "leaf", "leaves")
    model = about.target_name or "the target"
    if certificate.coverage == 0:
        return f"No tree was found that could answer for {model}: it has to be asked about every input."
    if certificate.error_bound >= 1:
        return f"A tree with {size}, about which nothing could be certified."
    if certificate.coverage is not None and certificate.lost:
        share = f"{at_least(certificate.lost)} of inputs"
        of = f"{_how_often(certificate)} of them"
        how = f"{of} as {model} does" if certificate.tolerance is None else f"{of} {_near(certificate)}{model}"
        return f"A tree with {size} that answers at least {share}, {how}."
    if certificate.method == "exact" and certificate.error_bound == 0:
        return f"A tree with {size} that answers exactly as {model} does, on every input."
    if certificate.tolerance is not None:
        return f"A tree with {size} that is {_near(certificate)}{model} on {_how_often(certificate)} of inputs."
    return f"A tree with {size} that answers as {model} does on {_how_often(certificate)} of inputs."


def _near(certificate: Certificate) -> str:
    return "with " if certificate.tolerance is None else f"within {certificate.tolerance:.6g} of "


def agreement(certificate: Certificate) -> str:
    """The headline's number alone."""
    if certificate.error_bound >= 1:
        return "unknown"
    return certificate.agreement if certificate.method == "exact" else f"≥ {certificate.agreement}"


def _how_often(certificate: Certificate) -> str:
    if certificate.method == "exact":
        return certificate.agreement
    return f"at least {certificate.agreement}"


def _confidence(certificate: Certificate) -> str:
    return "100%" if certificate.method == "exact" else percent(1 - certificate.delta)


def _asked_for(contents: Contents) -> str:
    certificate = contents.certificate
    if certificate.epsilon is None:
        every = (
            "A tree of every size was asked for"
            if certificate.ledger == FRONTIER
            else "Not the size that was asked for"
        )
        return f"{every}; this is the knee of the curve." if contents.knee else f"{every}."
    asked = f"An error of at most {percent(certificate.epsilon)} was asked for"
    if certificate.standing.state != "missed":
        return f"{asked}."
    return f"{asked}; what could be certified is {certificate.error_at_most}."


def _fact(name: str, value: str, note: str) -> Html:
    return tag("div", tag("dt", name), tag("dd", tag("strong", value), " ", tag("span", note)))


def _baseline(certificate: Certificate) -> Html | None:
    """How far one answer for all inputs gets: what agreement is to be compared with."""
    found = certificate.confusion
    if found is None:
        return None
    most = at_most(1 - found.constant_error[0])
    sign = "" if found.level is None else "≤ "
    return _fact("Baseline", f"{sign}{most}", f"if the answer were always {shown(found.target.best.label)}")


def _limits(contents: Contents) -> Iterator[Html]:
    certificate = contents.certificate
    yield _limit("Not that the target is right.", "The tree repeats what the target answers, mistakes included.")
    drawn = contents.world.table is None
    where = "inputs drawn from the stated distribution" if drawn else "rows like those of the table"
    yield _limit("Not about other inputs.", f"Agreement is counted over {where}; over others it may be lower.")
    yield _limit(
        "Not that errors are spread evenly.",
        "They may all fall on one kind of input: see where the remaining error sits.",
    )
    if certificate.method != "exact":
        one_in = whole(max(1, int(1 / certificate.delta + 1e-9)))
        odds = f"With a confidence of {_confidence(certificate)}, up to one run in {one_in}"
        more = "Among runs that reach their goal, the share can be larger."
        yield _limit("Not that it cannot be wrong.", f"{odds} may promise too much. {more}")
    if ASSUMES_NOT_FITTED in certificate.assumes:
        yield _limit("Not for a target fitted to these rows.", "It may know them by heart, and answer new rows worse.")
    if ASSUMES_INDEPENDENT in certificate.assumes:
        yield _limit("Not for rows that depend on each other.", "Several rows of one person count as several persons.")
    if ASSUMES_DETERMINISTIC in certificate.assumes:
        yield _limit("Not for a target that changes its mind.", "It is taken to give one answer to one input, always.")
    elif certificate.method != "exact":
        yield _limit("Not about what the target answers most often.", "Each test input was asked anew, and once.")
    if not certificate.split_quality:
        yield _limit("Not that no smaller tree exists,", "nor that every split is the best one.")


def _limit(first: str, then: str) -> Html:
    return join(tag("strong", first), " ", then)
