"""Check a folder that fidelitree wrote, with Python's standard library alone: ``python3 -I -S verify.py DIR``.

Whoever sent you the folder may have sent this file too, and may have changed it. ``fidelitree verifier`` prints the
genuine one, and the documentation of each version lists its SHA-256.

`Folder`, near the end, makes the checks in order. Above it: how bounds follow from counts, how inputs are drawn from a
seed, how trees and journals are read. Nothing in a folder is executed. Limits are those of fidelitree where it reads
the same files. Exit codes: 0 confirmed, 2 something is wrong, 3 confirmed but the goal was missed, 5 undecided.
"""

import array
import base64
import bisect
import collections
import hashlib
import itertools
import json
import math
import pathlib
import sqlite3
import struct
import sys
import zlib

MOST_BYTES = 200_000_000  # of a file, and of the unpacked rows of a table
MOST_VALUE = 64 << 20  # bytes of one value in the journal
MOST_DIGITS = 20  # of a whole number in a file
MOST_FEATURES = 1 << 17
MOST_ROWS = 1 << 21  # of a table: all of them are put in order
MOST_CELLS = 1 << 24  # values that are drawn, in all
MOST_STEPS = 1 << 22  # nodes of a tree that are looked at, and conditions on the way to its leaves
MOST_ANSWERS = 1 << 22  # in a journal
MOST_KEPT = 1 << 23  # values of test inputs that a table of answers is sure to count
UPPER = {"run": 0.95, "standing": 0.03, "frontier": 0.92}  # of delta, for the upper ends of attempts
LOWER = {"run": 0.018, "standing": 0.002, "frontier": 0.048}  # of delta, for their lower ends
DETERMINISTIC = "the target is deterministic"
UNFORESEEN = "the seed was given, and neither the target nor the predictor was made knowing these inputs"
ASSUMES_PRODUCT = "inputs follow the stated product distribution"
ASSUMES_ROWS = "inputs are rows like those of this table"
ASSUMES_NOT_FITTED = "the target was not fitted to them"
INDEPENDENT = "the rows are independent of each other"
COUNTED = {
    "": INDEPENDENT,
    "groups/": "the groups of rows are independent of each other, and each counts once, by one of its rows",
    "equal/": "different rows are independent of each other, and each counts once, however often it is repeated",
}
ASSUMES_CHOW_LIU = "inputs follow the Chow-Liu tree fitted to this table"
ASSUMES_HALF = "inputs follow the Chow-Liu tree fitted to one half of this table"
ASSUMES_MIXTURE = "inputs follow the stated mixture of product distributions"
ASSUMES_FITTED = "inputs follow the mixture of products fitted to this table"
LIMITS = ("max_queries", "max_leaves", "max_seconds", "max_cost")
NOTES = {"asked", "paid", "reason", "files", "command", "point", "forecast", *LIMITS}  # that a journal does not repeat
FILES = ("certificate.json", "frontier.json", "space.json", "surrogate.json", "tested.json", "trace.csv", "tree.json")
OF_POINT = {"leaves", "depth", "error_bound", "interval", "certificate", "tree", "tested", "answers"}
OF_FRONTIER = {"format", "version", "delta", "max_leaves", "points"}
SCHEMA = """
CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE answers (
    id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, batch INTEGER NOT NULL, start INTEGER NOT NULL,
    count INTEGER NOT NULL, digest BLOB NOT NULL, kind TEXT NOT NULL, inputs BLOB NOT NULL, labels BLOB NOT NULL,
    seconds REAL NOT NULL, seal BLOB NOT NULL);
CREATE INDEX by_batch ON answers (purpose, batch);
CREATE TABLE attempts (
    ledger TEXT NOT NULL, number INTEGER NOT NULL, tree TEXT NOT NULL, labels INTEGER NOT NULL, tests INTEGER NOT NULL,
    labels_since INTEGER NOT NULL, tests_since INTEGER NOT NULL, {}PRIMARY KEY (ledger, number)) WITHOUT ROWID
"""
KEYS = """run INTEGER NOT NULL, before TEXT NOT NULL,
    key TEXT NOT NULL, """
FIRST_KEY = "0"
NO_WITNESS = (
    "the stored answers give these counts, but they do not show when the tree was made: it may have been changed after "
    "its test inputs were known. `fidelitree verify` of the version that wrote it makes the run again, and --target "
    "asks the target"
)
NOT_CHECKED = (
    "that the answers are those of the target, that the seed was given, how the tree was found, its cost, why the run "
    "ended, the words of the report, intervals in tables of answers, versions, earlier runs of the journal"
)


class Unsure(Exception):  # noqa: N818
    """It could not be checked, which says nothing against the folder."""


def plain(text):
    """JSON from a stranger."""
    return json.loads(text, parse_int=short_int, object_pairs_hook=named_once)


def need(holds, why):
    """Refuse what does not hold."""
    if not holds:
        raise ValueError(why)


def near(one, two, rounding=1e-6):
    """Whether two numbers are equal up to rounding."""
    return math.isclose(one, two, rel_tol=rounding, abs_tol=rounding * 1e-3)


def plain_text(data):
    """JSON with its keys in order: 0 is not false in it."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def digest_of(data):
    """SHA-256 of bytes, or of plain data."""
    return hashlib.sha256(data if isinstance(data, bytes) else plain_text(data).encode()).hexdigest()


def short_int(text):
    """Read a whole number; a million digits would take hours."""
    need(len(text) <= MOST_DIGITS, f"a number has {len(text):,} digits")
    return int(text)


def named_once(pairs):
    """An object of JSON; where a name stands twice, readers do not agree on which one counts."""
    need(len(found := dict(pairs)) == len(pairs), "a name stands twice in an object")
    return found


def small_file(path):
    """Read a file that is not too large, and not endless either."""
    with path.open("rb") as file:
        content = file.read(min(path.stat().st_size, MOST_BYTES) + 1)
    need(len(content) <= MOST_BYTES, f"{path.name} is larger than the {MOST_BYTES // 1_000_000} MB that it may have")
    return content


# How a bound follows from counts.


def log_integral(a, b, x):
    """Logarithm of the integral of t^(a-1) (1-t)^(b-1) from 0 to x, by its continued fraction."""
    if x > (a + 1) / (a + b + 2):
        whole = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        rest = log_integral(b, a, 1 - x) - whole
        return whole + math.log1p(-math.exp(min(rest, -1e-300)))
    d = 1 / (1 - (a + b) * x / (a + 1))
    c = 1.0
    fraction = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / (a + 2 * m - 1) / (a + 2 * m)
        odd = -(a + m) * (a + b + m) * x / (a + 2 * m) / (a + 2 * m + 1)
        for step in (even, odd):
            d = 1 / (1 + step * d)
            c = 1 + step / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return a * math.log(x) + b * math.log1p(-x) - math.log(a) + math.log(fraction)


def log_bet_below(errors, samples, epsilon):
    """Logarithm of the bet against "the error is at least epsilon": 1/4 on 0, the rest a triangle below epsilon."""
    right = -(samples - errors) * math.log1p(-epsilon)
    below = log_integral(errors + 1, samples - errors + 1, epsilon)
    mean = math.exp(log_integral(errors + 2, samples - errors + 1, epsilon) - below) / epsilon
    spread = below - (errors + 1) * math.log(epsilon) + right + math.log(max(1.5 * (1 - mean), 1e-300))
    if errors:
        return spread
    atom = right + math.log(0.25)
    return max(spread, atom) + math.log1p(math.exp(-abs(spread - atom)))


def log_bet_above(errors, samples, epsilon):
    """Logarithm of the bet against "the error is at most epsilon", spread evenly above it."""
    above = log_integral(samples - errors + 1, errors + 1, 1 - epsilon) - math.log1p(-epsilon)
    return above - errors * math.log(epsilon) - (samples - errors) * math.log1p(-epsilon)


def upper_end(errors, samples, level):
    """The error that these counts certify, at any time: from where on the bet has won 1/level."""
    need(0 <= errors <= samples < 1 << 40, "there are more errors than test inputs")
    low = errors / samples if samples else 1.0
    high = 1.0
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        if log_bet_below(errors, samples, middle) >= -math.log(level):
            high = middle
        else:
            low = middle
    return high


def lower_end(errors, samples, level):
    """The least error that these counts leave possible, at any time."""
    low = 0.0
    high = errors / (samples + 1)
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        if log_bet_above(errors, samples, middle) >= -math.log(level):
            low = middle
        else:
            high = middle
    return low


def level_of(told):
    """The part of delta that an attempt may spend: by Basel's sum, in a frontier the same for nine at a time."""
    number = told["attempt"]
    part = UPPER[told["ledger"]] * told["delta"]
    if told["ledger"] == "frontier":
        return part * 0.8 * 0.2 ** ((number - 1) // 9) / 9
    return part * 6 / (math.pi * number) ** 2


def level_below(told):
    """The part of delta for the lower end of the same attempt."""
    return level_of(told) * LOWER[told["ledger"]] / UPPER[told["ledger"]]


def errors_of_test(told):
    """The errors from which the bound follows: those of the tree that was tested, where it is not the returned one."""
    return told["errors"] if told.get("tested_errors") is None else told["tested_errors"]


def interval_of(told):
    """Both ends of the error."""
    bound = told["error_bound"]
    if told["method"] == "exact":
        return bound, bound
    if not errors_of_test(told) or "coverage" in told:
        return 0.0, bound
    least = lower_end(errors_of_test(told), told["samples"], level_below(told))
    return min(max(0.0, least - told["differs"]), bound), bound


# How inputs are drawn from a seed.


def random_words(name, block, lane):
    """Random words of one lane of a block: Philox with ten rounds (Salmon et al. 2011), keyed by the stream's name."""
    whole = (1 << 64) - 1
    first, second = struct.unpack("<2Q", hashlib.sha256(name.encode()).digest()[:16])
    for number in itertools.count(1):
        a, b, c, d = number, 0, lane, block
        key, other = first, second
        for _ in range(10):
            one = 0xD2E7470EE14C6C93 * a
            two = 0xCA5A826395121157 * c
            a, b, c, d = (two >> 64) ^ b ^ key, two & whole, (one >> 64) ^ d ^ other, one & whole
            key = (key + 0x9E3779B97F4A7C15) & whole
            other = (other + 0xBB67AE8584CAA73B) & whole
        yield from (a, b, c, d)


def uniforms(words, rows):
    """Numbers of 53 bits, at least 0 and below 1."""
    return [(word >> 11) * 2.0**-53 for word in itertools.islice(words, rows)]


def pick(numbers, shares):
    """The place that each number falls on where places have these shares."""
    ends = list(itertools.accumulate(shares))
    last = max(place for place, share in enumerate(shares) if share)
    return [min(bisect.bisect_right(ends, number * ends[-1]), last) for number in numbers]


def numbers_of(values, positive=False):
    """Finite numbers, none of them below 0 where they are weights."""
    found = [float(value) + 0.0 for value in values]
    need(found and all(map(math.isfinite, found)), "a list of numbers is empty, or holds something else")
    need(not positive or (min(found) >= 0 < max(found)), "weights are below 0, or all of them are 0")
    return found


class Feature:
    """One feature: how likely its values are. ``described`` is what the space's digest is of.

    What is left of a feature on the way through a tree is a set of codes, or of a number (low, high, missing): above
    low, at most high, and whether a missing one may come too.
    """

    def __init__(self, data):
        names = set(data) - {"name", "kind", "missing"}
        self.name = data["name"]
        self.kind = data["kind"]
        self.missing = float(data.get("missing", 0.0))
        self.values = self.edges = self.categories = None
        need(0 <= self.missing < 1 and (self.kind == "numeric" or "missing" not in data), "missing is no probability")
        if self.kind == "boolean" and names == {"p"}:
            self.weights = numbers_of([1 - data["p"], data["p"]], positive=True)
            exact = {"p": self.weights[1].hex()}
        elif self.kind == "categorical" and names == {"values", "weights"}:
            weights = numbers_of(data["weights"], positive=True)
            self.weights = [weight / math.fsum(weights) for weight in weights]
            self.categories = [{"float": one.hex()} if isinstance(one, float) else one for one in data["values"]]
            exact = {"values": self.categories, "p": [share.hex() for share in self.weights]}
            need(len({plain_text(one) for one in self.categories}) == len(weights), "values and weights do not fit")
        elif self.kind == "numeric" and names == {"integer", "values", "weights"}:
            self.values = numbers_of(data["values"])
            self.weights = numbers_of(data["weights"], positive=True)
            rising = all(one < two for one, two in zip(self.values, self.values[1:])) and min(self.weights) > 0
            need(rising and len(self.values) == len(self.weights), "values do not rise, or weights do not fit them")
            packed = {"values": self.values, "weights": self.weights}
            exact = {key: struct.pack(f"<{len(some)}d", *some).hex() for key, some in packed.items()}
        elif self.kind == "numeric" and names == {"edges", "shares"}:
            self.edges = numbers_of(data["edges"])
            self.weights = numbers_of(data["shares"], positive=True)
            need(sorted(self.edges) == self.edges and len(self.edges) == len(self.weights) + 1, "edges fall")
            packed = {"edges": self.edges, "shares": self.weights}
            exact = {key: [value.hex() for value in some] for key, some in packed.items()}
        else:
            raise Unsure(f"feature {self.name!r:.60} is of a kind that this file does not know")
        if self.kind == "numeric":
            whole = data.get("integer", False)
            need(whole in (True, False) and (not whole or all(type(one) is int for one in data["values"])), "integer")
            exact["integer"] = whole
        if self.missing:
            exact["missing"] = self.missing.hex()
        self.described = {"kind": self.kind, "name": self.name, **exact}
        self.ends = [0.0, *itertools.accumulate(self.weights)]

    def points(self):
        """Each value with its probability; nothing where there is no end to them."""
        if self.edges:
            return []
        values = range(len(self.weights)) if self.values is None else self.values
        known = [(value, (1 - self.missing) * weight / self.ends[-1]) for value, weight in zip(values, self.weights)]
        return [*known, (math.nan, self.missing)] if self.missing else known

    def _pieces(self, low, high):
        """What an interval leaves of each piece between two edges: both ends, and its probability."""
        for left, right, share in zip(self.edges, self.edges[1:], self.weights):
            first = min(max(left, low), high)
            last = min(max(right, low), high)
            part = (last - first) / (right - left) if left < right else float(low < right <= high)
            yield first, last, share * part

    def mass(self, left):
        """The probability of what is left."""
        if self.kind != "numeric":
            return math.fsum(self.weights[code] for code in left)
        low, high, missing = left
        if low >= high:
            known = 0.0
        elif self.edges:
            known = math.fsum(share for _, _, share in self._pieces(low, high))
        else:
            known = (self._end(high) - self._end(low)) / self.ends[-1]
        return (1 - self.missing) * known + self.missing * missing

    def _end(self, value):
        return self.ends[bisect.bisect_right(self.values, value)]

    def draw(self, words, rows, left=(-math.inf, math.inf, True)):
        """Values, as often as they are likely; numbers from what is left of them."""
        if self.kind == "boolean":
            return self._bits(words, rows)
        if self.kind == "categorical":
            return [float(code) for code in pick(uniforms(words, rows), self.weights)]
        low, high, missing = left
        gone = self.missing * missing
        if not gone:
            return self._numbers(words, rows, low, high)
        known = self.mass((low, high, False))
        if not known:
            return [math.nan] * rows
        chosen = [number * (known + gone) < gone for number in uniforms(words, rows)]
        return [math.nan if one else number for one, number in zip(chosen, self._numbers(words, rows, low, high))]

    def _bits(self, words, rows):
        """One byte decides, and where it ties the bits of another word."""
        first, rest = divmod(math.ceil(self.weights[1] * 2.0**53), 1 << 45)
        count = -(-rows // 8)
        octets = struct.pack(f"<{count}Q", *itertools.islice(words, count))[:rows]
        drawn = [int(octet < first) for octet in octets]
        for place in [place for place, octet in enumerate(octets) if rest and octet == first]:
            drawn[place] = int(next(words) >> 19 < rest)
        return drawn

    def _numbers(self, words, rows, low, high):
        if self.edges:
            pieces = [piece for piece in self._pieces(low, high) if piece[2]]
            places = pick(uniforms(words, rows), [share for _, _, share in pieces]) if len(pieces) > 1 else [0] * rows
            chosen = [pieces[place] for place in places]
            least = [math.nextafter(first, math.inf) if first < last else last for first, last, _ in chosen]
            drawn = [last - (last - first) * number for (first, last, _), number in zip(chosen, uniforms(words, rows))]
            return list(map(max, drawn, least))
        begin = bisect.bisect_right(self.values, low)
        end = bisect.bisect_right(self.values, high)
        if self.ends[-1] > 1 << 20 or any(weight != math.floor(weight) for weight in self.weights):
            places = pick(uniforms(words, rows), self.weights[begin:end])
            return [self.values[begin + place] for place in places]
        count = self.ends[end] - self.ends[begin]  # whole weights: one number of so many copies
        copies = [self.ends[begin] + int(min(number * count, count - 1)) for number in uniforms(words, rows)]
        return [self.values[bisect.bisect_right(self.ends, copy) - 1] for copy in copies]


class Space:
    """Independent features. The other worlds draw in another way, and know other masses."""

    independent = True
    keyed = True
    rows = None
    kept = b""
    assumes = (ASSUMES_PRODUCT,)

    def __init__(self, data):
        need((data["format"], data["version"]) == ("fidelitree.space", 1), "it is no space of version 1")
        need(0 < len(data["features"]) <= MOST_FEATURES, f"it must have 1 to {MOST_FEATURES:,} features")
        self.features = [Feature(one) for one in data["features"]]
        self.bits = all(one.kind == "boolean" for one in self.features)
        self.digest = digest_of([one.described for one in self.features])
        self.left = MOST_CELLS
        self.drawn = {}

    def columns(self, name, block, rows):
        """Inputs of one block of a stream, feature by feature."""
        return [one.draw(random_words(name, block, lane), rows) for lane, one in enumerate(self.features)]

    def mass(self, box):
        """The probability of a box: what is left of some features."""
        return math.prod(self.features[i].mass(left) for i, left in box.items())

    def _blocks(self, name, together):
        """Inputs of a stream, one after the other: each block is as long as all before it."""
        most = max(64, min(1 << 16, (1 << 22) // len(self.features)) // 64 * 64)
        groups = [list(equal) for _, equal in itertools.groupby(self.features, lambda one: one.weights)]
        for block in itertools.count():
            rows = 128 if together else min(64 << min(block, 20), most)
            self.left -= rows * len(self.features)
            if self.left < 0:
                raise Unsure(f"more than the {MOST_CELLS:,} values that this file draws: use `fidelitree verify`")
            if together:  # over bits, neighbours with the same probability are drawn together
                lanes = (random_words(name, block, lane) for lane in range(len(groups)))
                found = [equal[0].draw(words, rows * len(equal)) for equal, words in zip(groups, lanes)]
                columns = [some[start : start + rows] for some in found for start in range(0, len(some), rows)]
            else:
                columns = self.columns(f"{name}/any", block, rows)
            yield from zip(*columns)

    def inputs(self, name, count, together):
        """The first inputs of a stream; they are drawn once."""
        source, found = self.drawn.setdefault((name, together), (self._blocks(name, together), []))
        found += itertools.islice(source, max(0, count - len(found)))
        return found[:count]

    def key(self, row):
        """The bytes that a journal has for an input."""
        if not self.bits:
            return struct.pack(f"<{len(row)}d", *(value + 0.0 for value in row))
        text = "".join(map(str, row)) + "0" * (-len(row) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")

    def unpacked(self, packed, count, size):
        """So many values of this size: a few packed ones may hold gigabytes."""
        need(type(count) is int and 0 < count * size <= MOST_BYTES, "its rows take more than 200 MB, or none")
        raw = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), count * size + 1)
        need(len(raw) == count * size, "its rows are not as many as it says")
        return raw

    def table(self, entry):
        """Stored rows: their bytes, their groups (numbered as they first appear), what they are, and their digest."""
        raw = self.unpacked(entry["packed"], entry["count"], len(self.features) * (1 if self.bits else 8))
        codes = b""
        kind = ""
        groups = None
        if "groups" in entry:
            need(entry["groups"]["equal"] in (True, False), "its groups are none")
            kind = "equal/" if entry["groups"]["equal"] else "groups/"
            if entry["count"] > MOST_ROWS:
                raise Unsure(f"the table has more than the {MOST_ROWS:,} rows in groups that this file reads")
            codes = self.unpacked(entry["groups"]["packed"], entry["count"], 4)
            groups = array.array("L", (code for (code,) in struct.iter_unpack("<I", codes)))
            known = itertools.accumulate(groups, max, initial=-1)
            need(all(code <= most + 1 for code, most in zip(groups, known)), "its groups are not numbered in order")
        return raw, groups, kind, hashlib.sha256(f"rows/{self.digest}/{kind}".encode() + raw + codes)


class Table(Space):
    """The rows of a table, each once, in the order of a seed; they are the same whatever was opened before."""

    independent = keyed = False

    def __init__(self, data):
        super().__init__(data)
        if set(data["rows"]) - {"groups"} != {"count", "packed"}:
            raise Unsure("neighbours of rows are not drawn again here")
        self.rows = data["rows"]["count"]
        self.raw, self.groups, kind, digest = self.table(data["rows"])
        self.digest = digest.hexdigest()
        self.assumes = (ASSUMES_ROWS, COUNTED[kind], ASSUMES_NOT_FITTED)

    def inputs(self, name, count, together):
        """Rows of one half, in the order of the seed: the first half tests, the other one teaches.

        Of groups the first half tests, each with its first row, and all rows of the others teach.
        """
        if self.rows > MOST_ROWS:
            raise Unsure(f"the table has more than the {MOST_ROWS:,} rows that this file puts in order")
        seed, purpose = name.split("/")[:2]
        if seed not in self.drawn:
            order = self.shuffled(seed, 0, self.rows)
            half = self.rows // 2
            self.drawn[seed] = order[half:], order[:half]
            if self.groups is not None:
                groups = self.shuffled(seed, 1, max(self.groups) + 1)
                tested = groups[: len(groups) // 2]
                first = {self.groups[place]: place for place in reversed(order)}
                apart = set(tested)
                teach = [place for place in order if self.groups[place] not in apart]
                self.drawn[seed] = teach, [first[group] for group in tested]
        order = self.drawn[seed][purpose == "certify"]
        shape = f"<{len(self.features)}{'B' if self.bits else 'd'}"
        return [struct.unpack_from(shape, self.raw, place * struct.calcsize(shape)) for place in order[:count]]

    def shuffled(self, seed, lane, count):
        """So many places in random order."""
        words = array.array("Q", itertools.islice(random_words(f"{seed}/rows", 0, lane), count))
        return sorted(range(count), key=words.__getitem__)


class ChowLiu(Space):
    """Each feature depends on one other, between bins; inside its bin a number is one of its own values."""

    independent = False
    assumes = (ASSUMES_CHOW_LIU,)

    def __init__(self, data):
        super().__init__(data)
        entry = data["chow_liu"]
        count = len(self.features)
        self.parents = entry["parents"]
        self.tables = [[numbers_of(row, positive=True) for row in table] for table in entry["tables"]]
        self.cuts = [numbers_of(cuts) if cuts else [] for cuts in entry["cuts"]]
        need({len(self.parents), len(self.tables), len(self.cuts)} == {count}, "it is not about all features")
        self.order = [i for i, parent in enumerate(self.parents) if parent == -1]
        children = collections.defaultdict(list)
        for i, parent in enumerate(self.parents):
            need(type(parent) is int and -1 <= parent < count, "a parent is no feature")
            children[parent].append(i)
        for i in self.order:
            self.order += children[i]
        need(len(self.order) == count, "parents go round in a circle")
        self.parts = [list(self._bins(i)) for i in range(count)]
        text = hashlib.sha256(f"chow-liu/{self.digest}/{tuple(self.parents)}/".encode())
        for i, (cuts, table) in enumerate(zip(self.cuts, self.tables)):
            rows = 1 if self.parents[i] < 0 else len(self.parts[self.parents[i]])
            shaped = len(table) == rows and all(len(row) == len(self.parts[i]) for row in table)
            need(shaped and all(abs(math.fsum(row) - 1) <= 1e-6 for row in table), f"table {i} is none of this tree")
            numbers = [len(cuts), *cuts, *itertools.chain(*table)]
            text.update(struct.pack(f"<{len(numbers)}d", *numbers))
        if entry.get("kept") is not None:  # half of the table, which taught nobody
            self.kept, *_, kept = self.table(entry["kept"])
            text.update(kept.hexdigest().encode())
            need(entry["assumes"].startswith(ASSUMES_HALF), "it assumes something else")
            self.assumes = (entry["assumes"],)
        self.digest = text.hexdigest()

    def _bins(self, i):
        """What is left of a feature in each of its bins."""
        feature = self.features[i]
        need(feature.kind == "numeric" or not self.cuts[i], "only numbers are cut")
        if feature.kind != "numeric":
            yield from ({code} for code in range(len(feature.weights)))
            return
        ends = [-math.inf, *self.cuts[i], math.inf]
        for low, high in zip(ends, ends[1:]):
            need(low < high and feature.mass((low, high, False)) > 0, "a bin is empty")
            yield low, high, False
        if feature.missing:
            yield math.inf, math.inf, True

    def columns(self, name, block, rows):
        """First the bin of each feature, parents first, then a value in it."""
        codes = [[0] * rows for _ in self.features]
        for i in self.order:
            numbers = uniforms(random_words(name, block, i), rows)
            above = [0] * rows if self.parents[i] < 0 else codes[self.parents[i]]
            for code in sorted(set(above)):
                places = [place for place, one in enumerate(above) if one == code]
                found = pick([numbers[place] for place in places], self.tables[i][code])
                for place, one in zip(places, found):
                    codes[i][place] = one
        return [self._values(name, block, i, codes[i]) for i in range(len(codes))]

    def _values(self, name, block, i, codes):
        if self.features[i].kind != "numeric":
            return codes if self.bits else list(map(float, codes))
        words = random_words(name, block, len(self.features) + i)
        values = [0.0] * len(codes)
        for code, part in enumerate(self.parts[i]):
            places = [place for place, one in enumerate(codes) if one == code]
            for place, value in zip(places, self.features[i].draw(words, len(places), part) if places else ()):
                values[place] = value
        return values

    def mass(self, box):
        """From the leaves of the dependence to its roots: how likely what is left is, given the bin of the parent."""
        likely = {i: self._shares(i, left) for i, left in box.items()}
        whole = 1.0
        for i in reversed(self.order):
            if i not in likely:
                continue
            above = [math.fsum(share * one for share, one in zip(row, likely[i])) for row in self.tables[i]]
            parent = self.parents[i]
            if parent < 0:
                whole *= above[0]
            else:
                before = likely.get(parent, [1.0] * len(above))
                likely[parent] = [one * two for one, two in zip(before, above)]
        return whole

    def _shares(self, i, left):
        """For each bin the probability that a value of it is among what is left."""
        if self.features[i].kind != "numeric":
            return [float(part <= left) for part in self.parts[i]]
        found = []
        for low, high, missing in self.parts[i]:
            both = (max(low, left[0]), min(high, left[1]), missing and left[2])
            found.append(self.features[i].mass(both) / self.features[i].mass((low, high, missing)))
        return found


class Mixture(Space):
    """Each input comes from one of several spaces of independent features."""

    independent = False

    def __init__(self, data):
        super().__init__(data)
        entry = data["mixture"]
        self.weights = numbers_of(entry["weights"], positive=True)
        self.components = [Space(one) for one in entry["components"]]
        need(len(self.weights) == len(self.components), "it must have a weight for each component")
        need(abs(math.fsum(self.weights) - 1) <= 1e-12, "its weights do not add up to 1")
        for one in self.components:
            outlines = [[(two.name, two.kind, two.categories) for two in some.features] for some in (self, one)]
            need(outlines[0] == outlines[1], "its components have other features")
        named = "/".join(one.digest for one in self.components)
        weighed = struct.pack(f"<{len(self.weights)}d", *self.weights)
        self.digest = hashlib.sha256(f"mixture/{named}/".encode() + weighed).hexdigest()
        self.assumes = (ASSUMES_FITTED if entry["fitted"] else ASSUMES_MIXTURE,)

    def columns(self, name, block, rows):
        """First the component of each input."""
        chosen = pick(uniforms(random_words(name, block, 0), rows), self.weights)
        drawn = [[0.0] * rows for _ in self.features]
        for number, one in enumerate(self.components):
            places = [place for place, found in enumerate(chosen) if found == number]
            if places:
                for column, values in zip(drawn, one.columns(f"{name}/component/{number}", block, len(places))):
                    for place, value in zip(places, values):
                        column[place] = value
        return drawn

    def mass(self, box):
        """The mean of the components."""
        return math.fsum(weight * one.mass(box) for weight, one in zip(self.weights, self.components))


def space_of(data):
    """The world that a file describes."""
    kinds = {"rows": Table, "chow_liu": ChowLiu, "mixture": Mixture}
    more = set(data) - {"format", "version", "batches", "features"}
    if more - set(kinds) or len(more) > 1:
        raise Unsure(f"a world of another kind: {', '.join(sorted(more)):.60}")
    return kinds[more.pop()](data) if more else Space(data)


# How trees and journals are read.


class Tree:
    """Nodes in preorder, each a leaf or a test of one feature; the label None asks the target."""

    def __init__(self, data):
        need((data["format"], data["version"]) == ("fidelitree.tree", 1), "it is no tree of version 1")
        self.digest = digest_of(data)
        self.features = data["features"]
        self.labels = data["labels"]["values"]
        self.nodes = [self._node(one) for one in data["nodes"]]
        self.steps = MOST_STEPS
        waiting = [(0, 0)]
        expected = self.depth = 0
        while waiting:
            place, depth = waiting.pop()
            need(place == expected < len(self.nodes), "its nodes are no tree in preorder")
            expected += 1
            self.depth = max(self.depth, depth)
            if len(self.nodes[place]) > 1:
                waiting += [(child, depth + 1) for child in self.nodes[place][3:1:-1]]
        need(expected == len(self.nodes), "some of its nodes are not reached")
        self.leaves = [place for place, node in enumerate(self.nodes) if len(node) == 1]

    def _node(self, node):
        """A leaf as (label,), or a test as (feature, codes or (cut, missing), no, yes)."""
        if set(node) == {"label"}:
            need(type(node["label"]) is int and 0 <= node["label"] < len(self.labels), "a leaf has no label")
            return (self.labels[node["label"]],)
        test = node["test"]
        place = test["feature"]
        feature = self.features[place]
        need(set(node) == {"test", "no", "yes"} and type(place) is int and place >= 0, "a node is no test")
        if feature["kind"] == "numeric" and set(test) - {"missing"} == {"feature", "at most"}:
            need(test.get("missing") in (None, True, False), "a test does not say where missing numbers go")
            asked = float.fromhex(test["at most"]), test.get("missing")
        elif feature["kind"] == "categorical" and set(test) == {"feature", "in"}:
            asked = frozenset(test["in"])
            need(asked <= set(range(len(feature["values"]))), "a test asks for codes that are none")
        else:
            need(feature["kind"] == "boolean" and test == {"feature": place, "is": 1}, "a test is none of its feature")
            asked = frozenset([1])
        return place, asked, node["no"], node["yes"]

    def leaf(self, row):
        """The place of the leaf that an input reaches; a missing number is not a number, and in no interval."""
        place = 0
        while len(node := self.nodes[place]) > 1:
            feature, asked, no, yes = node
            value = row[feature]
            if isinstance(asked, frozenset):
                place = yes if value in asked else no
            else:
                place = yes if value <= asked[0] or (asked[1] and value != value) else no  # noqa: PLR0124
        return place

    def predict(self, row):
        """The label of an input."""
        return self.nodes[self.leaf(row)][0]

    def _sides(self, feature, asked, left):
        """What a test leaves on its no side, and on its yes side; None where nothing is left."""
        if isinstance(asked, frozenset):
            count = len(self.features[feature].get("values", (0, 1)))
            left = set(range(count)) if left is None else left
            return left - asked or None, left & asked or None
        cut, gone = asked
        low, high, missing = (-math.inf, math.inf, True) if left is None else left  # as `leaf` does
        no = max(low, cut), high, missing and not gone
        yes = low, min(high, cut), missing and bool(gone)
        return [side if side[0] < side[1] or side[2] else None for side in (no, yes)]

    def boxes(self, start):
        """The label of each leaf that a box of inputs reaches, with what reaches it: use one before taking the next.

        Steps down are taken back in one box, so that a deep tree takes no memory.
        """
        box = dict(start)
        undo = []
        waiting = [(0, 0, None, None)]
        while waiting:
            place, depth, feature, side = waiting.pop()
            while len(undo) > depth:
                changed, before = undo.pop()
                box[changed] = before
            if feature is not None:
                undo.append((feature, box.get(feature)))
                box[feature] = side
            node = self.nodes[place]
            self.steps -= 1 + len(box) * (len(node) == 1)
            if self.steps < 0:
                raise Unsure("the tree is too large for this file: use `fidelitree verify`")
            if len(node) == 1:
                yield node[0], {i: left for i, left in box.items() if left is not None}
                continue
            for child, left in zip(node[2:], self._sides(node[0], node[1], box.get(node[0]))):
                if left is not None:
                    waiting.append((child, len(undo), node[0], left))


Attempt = collections.namedtuple(
    "Attempt",
    "ledger number tree labels tests labels_since tests_since run before key",
    defaults=(0, "", ""),
)


class Journal:
    """Every answer of the run, and every attempt that it opened.

    An attempt is a test of one tree, opened after some inputs for learning (labels) and some for tests. Where inputs
    are keyed, those after it come from streams that are named by its key. A key is the hash of the key before it and of
    what was opened: its ledger, both places, the digest of its tree; before the first comes a hash of what is promised.
    So a tree, or a promise, that is changed afterwards has other test inputs, and the journal holds no answers to them.
    """

    def __init__(self, path, width):
        file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            self._check(file)
            told = file.execute("SELECT name, value FROM run LIMIT 100")
            self.told = {name: plain(text) for name, text in told}
            self.attempts = {row[:2]: Attempt(*row) for row in file.execute("SELECT * FROM attempts")}
            self.answers = {}
            self.asked = {}
            self.twice = set()
            self.count = self.real = self.tests = 0
            for row in file.execute("SELECT * FROM answers ORDER BY id"):
                self._read(width, row)
        finally:
            file.close()
        arguments = self.told["arguments"]
        near = arguments.get("tolerance")
        promised = [float(arguments["delta"]), None if near is None else float(near), arguments["deterministic"]]
        self.promise = digest_of([self.told["space"], *promised])
        self.seed = self.told["seed"]
        self.drawn = self.told.get("drawn", [0, 0])
        self.several = len(self.told["rungs"]) > 1
        for one in self.attempts.values():
            need(one.number == 1 or (one.ledger, one.number - 1) in self.attempts, "attempts are missing")
            late = 0 <= one.labels <= one.labels_since and 0 <= one.tests <= one.tests_since
            same = (one.labels, one.tests) == (one.labels_since, one.tests_since)
            need(late and (same or (self.several and not one.key)), "an attempt counts other inputs")

    def way(self, attempt):
        """The attempts that were opened before one and after it, in their order; none where inputs are not keyed.

        Backwards there is one way, since a key names the key before it; forwards there must be one. Every key is worked
        out again.
        """
        if not attempt.key:
            return []
        same_run = [one for one in self.attempts.values() if one.run == attempt.run]
        by_key = {one.key: one for one in same_run}
        following = collections.defaultdict(list)
        for one in same_run:
            following[one.before].append(one)
            told = "/".join(map(str, (one.before, one.ledger, one.labels, one.tests, one.tree)))
            need(one.key == hashlib.sha256(told.encode()).hexdigest(), "a key does not follow from the one before")
        found = [attempt]
        while found[-1].before != self.promise:
            need(found[-1].before in by_key, "attempts are missing between two keys, or something else was promised")
            found.append(by_key[found[-1].before])
        found.reverse()
        while following[found[-1].key]:
            if len(following[found[-1].key]) > 1:
                raise Unsure("the run went on in two ways")
            found.append(following[found[-1].key][0])
        numbers = {}
        for last, one in zip([found[0], *found], found):
            need(last.labels <= one.labels and last.tests <= one.tests, "places of attempts fall")
            need(numbers.get(one.ledger, 0) < one.number, "attempts are not numbered in their order")
            numbers[one.ledger] = one.number
        return found

    def _check(self, file):
        """Only plain tables: a view or a column that is worked out could be endless."""
        if hasattr(file, "setlimit"):
            file.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
        for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            file.execute(f"PRAGMA {pragma}")
        made = file.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid LIMIT 9").fetchall()
        texts = [SCHEMA.format(more).strip() for more in ("", KEYS)]
        need(";\n".join(sql for (sql,) in made) in texts, "its tables are not those of a journal")
        need(file.execute("PRAGMA quick_check(1)").fetchone() == ("ok",), "it is damaged")

    def _read(self, width, row):
        """Read one record, which is sealed."""
        number, purpose, batch, start, count, digest, kind, inputs, labels, seconds, seal = row
        head = json.dumps([purpose, batch, start, count, digest.hex(), kind, seconds.hex()]).encode()
        sealed = hashlib.sha256(head + labels).digest() == seal and hashlib.sha256(inputs).digest() == digest
        need(sealed, f"record {number} is not as it was sealed")
        need(count >= 1 and len(inputs) == count * width, f"record {number} is not complete")
        sizes = {"bool": "?", "int": "q", "float": "d"}
        if kind == "str":
            found = json.loads(labels)
            need(
                type(found) is list and all(type(one) is str for one in found),
                f"record {number} has labels that are no text",
            )
        else:
            need(len(labels) == struct.calcsize(f"<{sizes[kind]}") * count, f"record {number} is not complete")
            found = struct.unpack(f"<{count}{sizes[kind]}", labels)
        need(len(found) == count, f"record {number} is not complete")
        asked = purpose, batch, self.count
        self.count += count
        self.real += count * (purpose == "real rows")
        self.tests += count * (purpose == "certify")
        if self.count > MOST_ANSWERS:
            raise Unsure(f"the journal has more than the {MOST_ANSWERS:,} answers that this file reads")
        for place, label in enumerate(found):
            key = inputs[place * width : place * width + width]
            self.asked.setdefault(key, asked)
            if self.answers.setdefault(key, label) != label:
                self.twice.add(key)

    def label(self, key):
        """The answer to an input; None where it was not asked."""
        if key in self.twice:
            raise Unsure("the target answered an input in two ways")
        return self.answers.get(key)


class Folder:
    """The checks; each ends well, or says why not, or that it could not be made."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.lines = []
        self.journal = self.space = None
        self.certificate = self.read("certificate.json")
        self.run = self.read("run.json", {})
        tree = self.read("tree.json")
        tested = self.read("tested.json", None)
        self.check("the journal is whole, and its run and its space are those of the certificate", self.open)
        self.check("the files are as they were saved", self.files)
        self.check("call and costs are those of the certificate", self.call, self.certificate, False)
        self.check("tree, bound and answers fit each other", self.point, tree, self.certificate, tested)
        if front := self.read("frontier.json", {}):
            self.check(f"so do all {len(front['points'])} points of the frontier", self.frontier, front)

    def read(self, name, *other):
        """The JSON in a file."""
        path = self.path / name
        if other and not path.exists():
            return other[0]
        return plain(small_file(path))

    def check(self, about, made, *arguments):
        """Make one check, and note how it ended."""
        try:
            made(*arguments)
            self.lines.append(("yes", about))
        except Unsure as why:
            self.lines.append(("-", f"{about}: {why}"))
        except Exception as why:  # noqa: BLE001 - whatever a stranger's file breaks here is a refusal
            self.lines.append(("NO", f"{about}: {why!s:.200}"))

    def open(self):
        """Read space and journal, and compare what they say about the run."""
        if not (self.path / "space.json").exists() or not (self.path / "journal.db").exists():
            raise Unsure("no journal, or no space, is here")
        space = space_of(self.read("space.json"))
        need(space.digest == self.certificate["space_digest"], "the space is another")
        self.space = space
        count = len(space.features)
        journal = Journal(self.path / "journal.db", -(-count // 8) if space.bits else 8 * count)
        told = journal.told
        names = ("door", "target", "seed", "seed_chosen", "space")
        theirs = {**{name: told[name] for name in names}, **told["arguments"]}
        ours = {**self.run, "space": space.digest}
        compared = {*theirs, *ours} - NOTES
        differ = [name for name in compared if plain_text(ours.get(name)) != plain_text(theirs.get(name))]
        limits = [{name: one[name] for name in LIMITS if name in one} for one in (ours, theirs)]
        if differ or told["lists_answers"] or any(one not in told["rungs"] for one in limits):
            raise Unsure(f"its run has another {', '.join(differ) or 'limit, or way of asking'}")
        paid = sum(self.run["paid"].values())
        need(journal.several or paid == journal.count, "the run paid for others")
        self.journal = journal

    def files(self):
        """Compare the digests of all files but the report, whose words nobody promises."""
        listed = self.run.get("files")
        if not isinstance(listed, dict):
            raise Unsure("no digests of them are stored")
        here = {one.name for one in self.path.iterdir()} & {*FILES, *listed} - {"report.html"}
        for name in sorted(here):
            need(listed.get(name) == digest_of(small_file(self.path / name)), f"{name} is not")
        if missing := sorted({*listed} - here - {"report.html"}):
            raise Unsure(f"{missing[0]} is not here")

    def call(self, told, of_point):
        """Compare what a certificate says about its run with the run."""
        run = {"tolerance": None, "defer": None, **self.run}
        if of_point:
            run["epsilon"] = None if told["epsilon"] is None else self.run.get("epsilon")
        elif "point" in run:
            run["epsilon"] = run["point"]["epsilon"]
        wanted = {"asked": told["queries"], "epsilon": told["epsilon"], "tolerance": told.get("tolerance")}
        wanted["defer"] = True if "coverage" in told else None
        if told["method"] != "exact":
            wanted.update((name, told[name]) for name in ("delta", "seed", "seed_chosen"))
            wanted["deterministic"] = DETERMINISTIC in told["assumes"]
        if told["split_quality"]:
            wanted["strategy"] = "influence"
        if self.space is not None:
            given = told["seed_chosen"] and told["method"] != "exact" and told["version"] > 1
            usual = [one for one in self.space.assumes if told["version"] > 1 or one != INDEPENDENT]
            usual += [UNFORESEEN] if given else []
            need(told["assumes"] in ([DETERMINISTIC, *usual], usual), "it assumes something else")
        for name, value in wanted.items():
            need(name not in run or plain_text(run[name]) == plain_text(value), f"{name} is not the same")
        if missing := [name for name in (*wanted, "paid", "reason") if name not in run]:
            raise Unsure(f"{', '.join(missing)} is not stored")

    def point(self, tree_data, told, tested_data, by_leaf=None):
        """Check a tree with its certificate: digests, level, bound, coverage, and the answers behind it."""
        tree = Tree(tree_data)
        tested = Tree(tested_data) if tested_data else tree
        known = told["format"] == "fidelitree.certificate" and told["version"] in (1, 2)
        need(known, "it is no certificate of version 1 or 2")
        counts = map(told.get, ("errors", "samples", "attempt", "attempts", "tested_errors", "drawn"))
        need({type(one) for one in counts} <= {int, type(None)}, "a count is no whole number")
        need(told["tree_digest"] == tree.digest, "the tree is another")
        need(told["space_digest"] == self.certificate["space_digest"], "the space is another")
        need(told["tested_digest"] == (tested.digest if tested_data else None), "the tested tree is another")
        need(told["entropy"] is None and told["replayed"] is False, "it is the certificate of an audit")
        bound, epsilon = told["error_bound"], told["epsilon"]
        need(told["holds"] is (bound < 1 if epsilon is None else bound <= epsilon), "holds is not what follows")
        self.fits(tree, tested)
        if told["method"] == "exact":
            return self.exact(tree, told, by_leaf)
        if told.get("helped") is not None:
            raise Unsure("a surrogate model shortened the test, which is not counted here: ask the target")
        if (told["method"], told["protocol"]) != ("sequential", "prequential"):
            raise Unsure("only tests of distill and frontier are counted here")
        need(0 < told["delta"] < 1, "delta must be above 0 and below 1")
        level = level_of(told)
        need(1 <= told["attempt"] <= told["attempts"] and near(told["level"], level), f"its level is not {level:.6g}")
        errors, samples = errors_of_test(told), told["samples"]
        certified = min(1.0, upper_end(errors, samples, level) + told["differs"])
        need(near(bound, certified), f"{errors} errors among {samples} give {certified:.6g}")
        self.coverage(tree, told)
        if self.journal is None or (tested_data and not self.space.keyed):
            raise Unsure("its answers are not here, or nobody knows how often rows reach a leaf")
        apart = self.apart(tree, tested) if tested_data else 0.0
        need(abs(apart - told["differs"]) <= 1e-9, "it is farther from the tested tree")
        return self.counted(tree, tested, told, by_leaf)

    def fits(self, *trees):
        """Compare the features of trees with those of the space."""
        for tree in trees if self.space is not None else ():
            theirs = [(one["name"], one["kind"], one.get("values")) for one in tree.features]
            ours = [(one.name, one.kind, one.categories) for one in self.space.features]
            need(plain_text(theirs) == plain_text(ours), "the tree has other features than the space")
            for place, asked, *_ in (node for node in tree.nodes if len(node) > 1):
                sided = isinstance(asked, frozenset) or asked[1] is not None
                need(sided or not self.space.features[place].missing, "a test has no side for missing numbers")

    def coverage(self, tree, told):
        """Check how much a tree answers that defers: by its mass, or by one more bet on the inputs that were drawn."""
        least = 1.0
        if None in tree.labels:
            if self.space is None:
                raise Unsure("how often inputs reach a leaf is not known here")
            if self.space.rows is None:
                least = math.fsum(self.space.mass(box) for label, box in tree.boxes({}) if label is not None)
            else:
                least = 1 - upper_end(told["drawn"] - told["samples"], told["drawn"], level_below(told))
        need(abs(told.get("coverage", 1) - least) <= 1e-6, f"it answers {least:.6g} of inputs")

    def apart(self, tree, tested):
        """How often two trees differ, exactly."""
        masses = []
        for label, box in tree.boxes({}):
            masses += [self.space.mass(both) for other, both in tested.boxes(box) if other != label]
        return math.fsum(masses)

    def exact(self, tree, told, by_leaf):
        """Count the errors of all inputs, each of which was asked."""
        names = ("errors", "seed", "level", "delta", "differs", "protocol", "attempt", "attempts", "seed_chosen")
        usual = [None, None, None, 0.0, 0.0, "separate", 1, 1, True]
        need(plain_text([told[name] for name in names]) == plain_text(usual), "an exact error has no test inputs")
        points = [one.points() for one in self.space.features] if self.journal is not None else [[]]
        count = math.prod(map(len, points))
        if not 0 < count <= 1 << 20 or not self.space.independent:
            raise Unsure("only the target itself can confirm an exact error")
        need(told["samples"] == count and DETERMINISTIC in told["assumes"], "it is not about every input")
        shares = collections.defaultdict(list)
        for point in itertools.product(*points):
            row = [value for value, _ in point]
            label = self.journal.label(self.space.key(row))
            if label is None:
                raise Unsure("not every input was asked")
            shares[tree.leaf(row), label].append(math.prod(share for _, share in point))
        table = {place: math.fsum(some) for place, some in shares.items()}
        error = math.fsum(share for (leaf, label), share in table.items() if tree.nodes[leaf][0] != label)
        need(abs(error - told["error_bound"]) <= 1e-9, f"the error is another: {error:.6g}")
        self.by_leaf(tree, by_leaf, table)

    def counted(self, tree, tested, told, by_leaf):
        """Count the stored answers to the inputs that were drawn after the attempt was opened."""
        journal = self.journal
        ledger, samples, defers = told["ledger"], told["samples"], None in tested.labels
        if not samples and ledger not in [name for name, _ in journal.attempts]:  # it ended before it tested a tree
            need(told["confusion"] is None, "without tests there is no table of answers")
            self.by_leaf(tree, by_leaf)
            self.real_rows(tree, told)
            return
        attempt = journal.attempts[ledger, told["attempt"]]
        in_all = max(number for name, number in journal.attempts if name == ledger)
        need(attempt.tree == tested.digest, "the attempt in the journal is for another tree")
        fewer = journal.several and told["attempts"] < in_all
        need(told["attempts"] == in_all or fewer, "attempts are missing")
        standing = ledger == "standing"
        passed = (attempt.labels, attempt.tests) != (attempt.labels_since, attempt.tests_since)
        if standing and journal.drawn[0] and passed:
            raise Unsure("an earlier run went through the same inputs")
        most = told["drawn"] if defers else samples
        need(told["version"] > 1 or not attempt.key, "its version is older than its keys")
        tests = self.answered(tested, "certify", attempt, most)
        twice = self.space.rows is not None and self.space.groups is not None  # several rows of a group teach
        labels = self.answered(tested, "label", attempt, most) if standing and not twice else []
        need(not defers or len(tests) == samples, "the tree answers other inputs")
        # The two streams may come in any turn: so many of the one, and the rest of the other.
        ways = [k for k in range(len(labels) + 1) if 0 <= samples - k <= len(tests)]
        counts = [(tested, errors_of_test(told))]
        if told["version"] > 1:  # older certificates count the tested tree alone
            counts.append((tree, told["errors"]))
        for judged, errors in counts:
            sums = [self.wrong(judged, told, some) for some in (tests, labels)]
            ways = [k for k in ways if sums[0][samples - k] + sums[1][k] == errors]
            need(ways, "the answers give other counts")
        if attempt.key and told["confusion"] is not None:
            ways = self.in_table(tree, told, tests, labels, ways)
        if attempt.key:  # certificates that are older than keys end where their bound was lowest
            self.complete(told, attempt, most, ways, standing and not twice)
        if by_leaf is None or standing or defers or told.get("tolerance") is not None:
            self.by_leaf(tree, by_leaf)
        else:
            later = self.answered(tested, "certify", attempt, max(samples, by_leaf["samples"]))
            self.by_leaf(tree, by_leaf, collections.Counter((tree.leaf(row), label) for row, label in later))
        self.real_rows(tree, told)
        if not (attempt.key and self.space.keyed):
            raise Unsure(NO_WITNESS)

    def in_table(self, tree, told, tests, labels, ways):
        """The ways of counting that give the table of both answers; one that is long lists its largest cells."""
        table = told["confusion"]
        if table["tests"] != told["samples"] and sum(self.journal.drawn) * len(self.space.features) > MOST_KEPT:
            raise Unsure("a run keeps no more than 64 MB of answers for its table")
        listed = [(cell["target"], cell["tree"], cell["count"]) for cell in table["cells"]]
        for k in ways:
            both = [(label, tree.predict(row)) for row, label in tests[: told["samples"] - k] + labels[:k]]
            counts = collections.Counter(map(plain_text, both))
            same = all(counts[plain_text(one[:2])] == one[2] for one in listed)
            whole = len(listed) == table["cells_in_all"] == len(counts) or len(listed) >= 100
            known = {plain_text(one) for one in (*tree.labels, *(label for label, _ in both)) if one is not None}
            lost = known - {plain_text(tree.nodes[one][0]) for one in tree.leaves}
            never = {plain_text(one["label"]) for one in table["never"]}
            if same and whole and (lost == never or len(never) >= 100):
                return [one for one in ways if one >= k]
        raise ValueError("the answers give another table")

    def complete(self, told, attempt, most, ways, labels):
        """Refuse counts that end before the answers do: at the luckiest moment a bound is lower than in the end."""
        if attempt.ledger == "standing" and told.get("coverage", self.run.get("defer")) is not None:
            return  # it counts no input that other trees defer
        need(self.journal.several or self.journal.tests <= self.journal.drawn[1], "more was tested than was drawn")
        tests = self.endings("certify", attempt)
        learnt = self.endings("label", attempt) if labels else None
        if any(tests(most - k) and (learnt is None or learnt(k)) for k in ways):
            return
        others = [
            one for one in self.journal.attempts.values() if (one.ledger, one.run) == (attempt.ledger, attempt.run)
        ]
        if attempt.ledger == "standing" and sum(one.number > attempt.number for one in others) > 1:
            raise Unsure("it may have been given up before the end: use `fidelitree verify`")
        need(False, "it leaves out the last answers")

    def endings(self, purpose, attempt):
        """Whether this many inputs after an opening are all that were asked, or all but a last batch, cut off."""
        journal = self.journal
        paid = sum(self.run["paid"].values())  # a journal that another run extended has more
        since = attempt.tests_since if purpose == "certify" else attempt.labels_since
        inputs = self.inputs(purpose, attempt, 0, journal.drawn[purpose == "certify"])
        first = {}
        for place, row in enumerate(inputs, 1 - since):
            first.setdefault(self.space.key(row), place)
        places = collections.defaultdict(list)
        for key, place in first.items():
            what, batch, before = journal.asked.get(key, ("", 0, 0))
            if what == purpose and before < paid:
                places[batch].append(place)
        last = places.pop(max(places, default=0), [0])
        least = max([0, *itertools.chain(*places.values())])
        return lambda count: count >= max(last) or least <= count < min(last)

    def real_rows(self, tree, told):
        """Count the errors on rows of the table that were kept aside; they were asked about first, in their order."""
        real, found = told.get("real_rows"), []
        shape = f"<{len(self.space.features)}{'B' if self.space.bits else 'd'}"
        for row in struct.iter_unpack(shape, self.space.kept) if self.journal.real else ():
            label = self.journal.label(self.space.key(row))
            if label is None:
                break
            found += [(row, label)] if "coverage" not in told or tree.predict(row) is not None else []
        if real is None and found:
            raise Unsure("rows that were kept aside were answered, and it does not tell of them")
        if real is not None:
            need(type(real["rows"]) is int and 1 <= real["rows"] <= len(found), "it tells of other real rows")
            need(real["rows"] == len(found) or "coverage" in told or real["rows"] >= self.journal.real, "of fewer rows")
            need(self.wrong(tree, told, found)[real["rows"]] == real["errors"], "real rows give another error")

    def wrong(self, tree, told, answers):
        """How often a tree was wrong, or too far away, after 0, 1, 2, ... answers."""
        given = [(tree.predict(row), label) for row, label in answers]
        if told.get("tolerance") is None:
            return [0, *itertools.accumulate(one != two for one, two in given)]
        return [0, *itertools.accumulate(abs(one - two) > told["tolerance"] for one, two in given)]

    def answered(self, tree, purpose, attempt, most):
        """Inputs after an opening that a tree answers, with their answers, up to the first that was not asked."""
        since = attempt.tests_since if purpose == "certify" else attempt.labels_since
        drawn = self.journal.drawn[purpose == "certify"]
        need(since + most <= drawn or None not in tree.labels, "fewer inputs were drawn")
        found = []
        for row in self.inputs(purpose, attempt, since, min(drawn, since + most)):
            if tree.predict(row) is not None:
                label = self.journal.label(self.space.key(row))
                if label is None:
                    break
                found.append((row, label))
        return found

    def inputs(self, purpose, attempt, since, end):
        """The inputs of a run from one place to another; each opening begins a stream of its own."""
        journal = self.journal
        together = purpose == "certify" and journal.told["door"] == "distill" and self.space.bits
        way = journal.way(attempt)
        names = [f"{journal.seed}/{purpose}/{key}" for key in (FIRST_KEY, *(one.key for one in way))]
        starts = [0, *((one.tests if purpose == "certify" else one.labels) for one in way)]
        if not way:
            names = [f"{journal.seed}/{purpose}"]
        for name, start, stop in zip(names, starts, [*starts[1:], end]):
            count = min(stop, end) - start
            place = max(0, since - start)
            while place < count:  # some at a time: the first that was not asked is the last that is looked at
                some = min(count, 2 * place + 4096)
                yield from self.space.inputs(name, some, together and self.space.independent)[place:]
                place = some

    def by_leaf(self, tree, told, table=None):
        """Compare the answers by leaf of a frontier's point with those that were counted, where they were."""
        if told is None:
            return
        classes, samples, counts = told["classes"], told["samples"], told["counts"]
        need(len(counts) == len(tree.leaves) and {len(row) for row in counts} == {len(classes)}, "answers by leaf")
        need(near(math.fsum(itertools.chain(*counts)), samples or 1.0, 1e-9), "answers by leaf do not add up")
        if table is not None:
            found = [[table.get((place, label), 0) for label in classes] for place in tree.leaves]
            need(near(math.fsum(table.values()), samples or 1.0, 1e-9), "answers by leaf are not all that were counted")
            same = all(near(one, two, 1e-9) for row, mine in zip(counts, found) for one, two in zip(row, mine))
            need(same, "the answers by leaf are others")

    def frontier(self, front):
        """Check every point like a result of its own, and the numbers that are written beside its certificate."""
        points = front["points"]
        need(set(front) == OF_FRONTIER and points, "it has other entries")
        need((front["format"], front["version"]) == ("fidelitree.frontier", 1), "it is no frontier of version 1")
        for one in points:
            self.outer(one)
        sizes = [one["leaves"] for one in points]
        lost = [1 - one["certificate"].get("coverage", 1 - one["error_bound"]) for one in points]
        need(sorted(set(sizes)) == sizes, "the points are not in the order of their sizes")
        need(sorted(lost, reverse=True) == lost, "a tree is worse than a smaller one")
        most = front["max_leaves"]
        need(type(most) is int and sizes[-1] <= most, "a tree is larger than max_leaves")
        need(self.run["door"] != "frontier" or self.run["max_leaves"] in (None, most), "max_leaves is another")
        need(plain_text(front["delta"]) == plain_text(self.run["delta"]), "delta is another")
        if "point" in self.run:
            kept = {*self.certificate} - {"epsilon", "holds"}
            mine = [self.run["point"]["leaves"], {name: self.certificate[name] for name in kept}]
            found = [[one["leaves"], {name: one["certificate"].get(name) for name in kept}] for one in points]
            need(plain_text(mine) in map(plain_text, found), "the tree is no point of the frontier")
        unsure = []
        for one in points:
            need(one["answers"] or one["certificate"]["confusion"] is None, "a point has lost its answers by leaf")
            try:
                self.call(one["certificate"], True)
                self.point(one["tree"], one["certificate"], one["tested"], one["answers"])
            except Unsure as why:  # the other points may be wrong
                unsure.append(why)
        if unsure:
            raise unsure[0]

    def outer(self, one):
        """Compare what a point says about itself with its tree and its certificate."""
        tree = Tree(one["tree"])
        need(set(one) == OF_POINT and len(one["interval"]) == 2, "a point has other entries")
        told = [one["leaves"], one["depth"], one["error_bound"], *one["interval"]]
        follows = [len(tree.leaves), tree.depth, one["certificate"]["error_bound"], *interval_of(one["certificate"])]
        need(all(map(near, told, follows)), f"a point says {told}, and its tree and certificate {follows}")


def main(folder):
    """Print every check and the verdict; the exit code."""
    try:
        found = Folder(folder)
        lines = found.lines
        held = found.certificate["holds"]
    except Exception as why:  # noqa: BLE001 - the same
        lines = [("NO", f"{folder} can be read: {why!s:.200}")]
        held = False
    endings = {sign for sign, _ in lines}
    if "NO" in endings:
        code, verdict = 2, "do not rely on this folder"
    elif "-" in endings:
        code, verdict = 5, "undecided"
    elif held:
        code, verdict = 0, "confirmed"
    else:
        code, verdict = 3, "confirmed: the error asked for was not reached"
    for sign, sentence in lines:
        sys.stdout.write(f"{sign:<4}{sentence}\n")
    sys.stdout.write(f"    not checked: {NOT_CHECKED}\n    {verdict}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent))
