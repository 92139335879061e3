"""Check a folder that fidelitree wrote, with Python's standard library alone: ``python3 verify.py DIR``.

A second opinion, without fidelitree's code. Exit codes: 0 confirmed, 2 something is wrong, 3 goal missed, 5 undecided.
"""

import base64
import bisect
import hashlib
import itertools
import json
import math
import pathlib
import sqlite3
import struct
import sys
import zlib

PARTS = {"run": 0.95, "standing": 0.03, "frontier": 0.92}  # of delta, for the upper ends of attempts
DETERMINISTIC, PRODUCT = "the target is deterministic", ["inputs follow the stated product distribution"]
ROWS = ["inputs are rows like those of this table", "the target was not fitted to them"]
LIMITS, PLAIN = ("max_queries", "max_leaves", "max_seconds", "max_cost"), ["sequential", "prequential"]
HEAD = ["tree_digest", "space_digest", "format", "version", "entropy", "replayed"]
EXACT = ["errors", "seed", "level", "delta", "differs", "protocol", "attempt", "seed_chosen"]
NOTES = {"asked", "paid", "reason", "files", "command", "point", "forecast", *LIMITS}
NOT_CHECKED = "how the tree was found, its cost, why the run ended, lower ends, real rows, tables of answers, versions"


class Unsure(Exception):  # noqa: N818
    """It could not be checked, which says nothing against the folder."""


def need(holds, why):
    """Refuse what does not hold."""
    if not holds:
        raise ValueError(why)


def digest_of(data):
    """SHA-256 of bytes, or of JSON with its keys in order."""
    text = data if isinstance(data, bytes) else json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(text).hexdigest()


def log_part(a, b, x):
    """Logarithm of the integral of t^(a-1) (1-t)^(b-1) from 0 to x, by its continued fraction."""
    if x > (a + 1) / (a + b + 2):
        whole = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        return whole + math.log1p(-math.exp(min(log_part(b, a, 1 - x) - whole, -1e-300)))
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, h = 1.0, d
    for m in range(1, 1_000_000):
        even, odd = a + 2 * m - 1, a + 2 * m
        for step in (m * (b - m) * x / even / odd, -(a + m) * (a + b + m) * x / odd / (odd + 1)):
            d, c = 1 / (1 + step * d), 1 + step / c
            h *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return a * math.log(x) + b * math.log1p(-x) - math.log(a) + math.log(h)


def log_e(errors, samples, epsilon):
    """The bet against "the error is at least epsilon": a quarter on 0, the rest on a triangle over (0, epsilon)."""
    below, right = log_part(errors + 1, samples - errors + 1, epsilon), -(samples - errors) * math.log1p(-epsilon)
    mean = math.exp(log_part(errors + 2, samples - errors + 1, epsilon) - below) / epsilon
    spread = below - (errors + 1) * math.log(epsilon) + right + math.log(max(1.5 * (1 - mean), 1e-300))
    atom = -math.inf if errors else right + math.log(0.25)
    return max(spread, atom) + math.log1p(math.exp(-abs(spread - atom)))


def upper(errors, samples, level):
    """The error certified by so many errors, at any time: from where on the bet wins 1/level."""
    low, high = (errors / samples if errors < samples else 1.0), 1.0
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if log_e(errors, samples, middle) >= -math.log(level) else (middle, high)
    return high


def raw_words(name, block, lane, count):
    """Random words of one lane of a block: Philox with ten rounds (Salmon et al. 2011), keyed by the stream's name."""
    words, keys = [], struct.unpack("<2Q", hashlib.sha256(name.encode()).digest()[:16])
    for number in range(1, -(-count // 4) + 1):
        (a, b, c, d), (k0, k1) = (number, 0, lane, block), keys
        for _ in range(10):
            one, two = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
            a, b, c, d = (two >> 64) ^ b ^ k0, two & ((1 << 64) - 1), (one >> 64) ^ d ^ k1, one & ((1 << 64) - 1)
            k0, k1 = (k0 + 0x9E3779B97F4A7C15) & ((1 << 64) - 1), (k1 + 0xBB67AE8584CAA73B) & ((1 << 64) - 1)
        words += [a, b, c, d]
    return words


class Marginal:  # what the digest of a feature is of, pieces (from, to, probability), weights they are picked by
    def __init__(self, feature):
        kind, names, self.feature = feature["kind"], set(feature) - {"kind", "name"}, feature
        if kind == "boolean" and names == {"p"}:
            exact, shares = {"p": float(feature["p"]).hex()}, [1 - feature["p"], feature["p"]]
        elif kind == "numeric" and names == {"edges", "shares"}:
            exact, shares = {name: [float(value).hex() for value in feature[name]] for name in names}, feature["shares"]
        elif names == {"integer", "values", "weights"} or (kind == "categorical" and names == {"values", "weights"}):
            shares = [weight / math.fsum(feature["weights"]) for weight in feature["weights"]]
            values = [{"float": value.hex()} if isinstance(value, float) else value for value in feature["values"]]
            exact = {"values": values, "p": [share.hex() for share in shares]}
            if kind == "numeric":
                exact = {k: struct.pack(f"<{len(shares)}d", *feature[k]).hex() for k in ("values", "weights")}
        else:
            raise Unsure(f"feature {feature['name']!r:.60} is of a kind that this file does not know")
        integer = {"integer": feature.get("integer", False)} if kind == "numeric" else {}
        self.described = {"kind": kind, "name": feature["name"], **integer, **exact}
        self.weights = feature["weights"] if kind == "numeric" and "weights" in feature else shares
        low = feature.get("edges") or (feature["values"] if kind == "numeric" else range(len(shares)))
        self.pieces = list(zip(low, low[1:] if "edges" in feature else low, shares))

    def mass(self, left):
        if isinstance(left, set):
            return math.fsum(share for x, _, share in self.pieces if x in left)
        a, b = left
        inside = (a < y <= b if x == y else max(0.0, min(y, b) - max(x, a)) / (y - x) for x, y, _ in self.pieces)
        return math.fsum(share * part for part, (_, _, share) in zip(inside, self.pieces))

    def draw(self, name, block, lane, rows):
        words, octets, weights = raw_words(name, block, lane, 2 * rows), -(-rows // 8), self.weights
        if self.feature["kind"] == "boolean":  # one byte decides, and where it ties the bits of another word
            first, rest = divmod(math.ceil(self.feature["p"] * 2.0**53), 1 << 45)
            ties, drawn = iter(words[octets:]), struct.pack(f"<{octets}Q", *words[:octets])[:rows]
            return [int(next(ties) >> 19 < rest if rest and octet == first else octet < first) for octet in drawn]
        uniform, sums = [(word >> 11) * 2.0**-53 for word in words], list(itertools.accumulate(weights))
        some = [k for k, share in enumerate(weights) if share]
        whole = "integer" in self.feature and sums[-1] <= 1 << 20 and all(w == math.floor(w) for w in weights)
        at = [int(min(u * sums[-1], sums[-1] - 1)) if whole else u * sums[-1] for u in uniform[:rows]]
        places = [min(bisect.bisect_right(sums, place), some[-1]) for place in at]
        if "edges" not in self.feature:
            return [float(self.pieces[place][0]) for place in places]
        found = [(*self.pieces[k][:2], u) for k, u in zip(places, uniform[rows if len(some) > 1 else 0 :])]
        return [max(y - (y - x) * u, math.nextafter(x, math.inf) if x < y else y) for x, y, u in found]


class Space:  # independent features, or the rows of a table
    def __init__(self, data):
        need((data["format"], data["version"]) == ("fidelitree.space", 1), "it is no space of version 1")
        known = {"format", "version", "batches", "features", "rows", "count", "packed"}
        if unknown := {*data, *data.get("rows", ())} - known:
            raise Unsure(f"a world of another kind: {', '.join(sorted(unknown)):.60}")
        self.features, self.rows, width = list(map(Marginal, data["features"])), None, len(data["features"])
        self.bits = all(one["kind"] == "boolean" for one in data["features"])
        self.digest = digest_of([one.described for one in self.features])
        if "rows" in data:
            raw = zlib.decompress(base64.b64decode(data["rows"]["packed"], validate=True))
            need(len(raw) == width * (1 if self.bits else 8) * data["rows"]["count"], "its rows are not so many")
            self.digest = hashlib.sha256(f"rows/{self.digest}/".encode() + raw).hexdigest()
            self.rows = list(struct.iter_unpack(f"<{width}{'B' if self.bits else 'd'}", raw))

    def stream(self, seed, purpose, together):
        """The inputs of a seed for tests ("certify") or for learning ("label"), one after the other."""
        if self.rows is not None:
            words, half = raw_words(f"{seed}/rows", 0, 0, len(self.rows)), len(self.rows) // 2
            order = [self.rows[place] for place in sorted(range(len(self.rows)), key=words.__getitem__)]
            return (yield from order[:half] if purpose == "certify" else order[half:])
        most = max(64, min(1 << 16, (1 << 22) // len(self.features)) // 64 * 64)  # rows of a block
        for block in itertools.count():
            if together and purpose == "certify":  # over bits, neighbours of one bias are drawn together
                groups = [list(equal) for _, equal in itertools.groupby(self.features, lambda one: one.weights)]
                each = ((f"{seed}/certify", block, lane, 128 * len(equal)) for lane, equal in enumerate(groups))
                drawn = [equal[0].draw(*place) for equal, place in zip(groups, each)]
                columns = [found[k : k + 128] for found in drawn for k in range(0, len(found), 128)]
            else:
                rows, name = min(64 << min(block, 20), most), f"{seed}/{purpose}/any"
                columns = [one.draw(name, block, lane, rows) for lane, one in enumerate(self.features)]
            yield from zip(*columns)

    def mass(self, boxes):
        return math.fsum(math.prod(self.features[i].mass(left) for i, left in box.items()) for box in boxes)

    def key(self, row):
        if not self.bits:
            return struct.pack(f"<{len(row)}d", *(value + 0.0 for value in row))
        text = "".join(map(str, row)) + "0" * (-len(row) % 8)
        return int(text, 2).to_bytes(len(text) // 8, "big")


class TreeFile:  # nodes in preorder, each a leaf or a test of one feature; the label None asks the target
    def __init__(self, data):
        self.nodes, self.labels, self.features = data["nodes"], data["labels"]["values"], data["features"]
        self.digest = digest_of(data)
        need(len(self.nodes) == 2 * len(list(self.boxes({}))) - 1, "its nodes are no tree")

    def predict(self, row):
        place = 0
        while "test" in (node := self.nodes[place]):
            test, value = node["test"], row[node["test"]["feature"]]
            yes = value <= float.fromhex(test["at most"]) if "at most" in test else value in test.get("in", (1,))
            place = node["yes" if yes else "no"]
        return self.labels[node["label"]]

    def boxes(self, box, place=0):
        """The labels of the leaves that a box of inputs reaches, with what reaches them."""
        node = self.nodes[place]
        if "label" in node:
            return (yield self.labels[node["label"]], box)
        test, feature = node["test"], node["test"]["feature"]
        if set(test) - {"feature", "at most", "in", "is"}:
            raise Unsure("it tests something that this file does not know")
        if "at most" in test:
            cut, (low, high) = float.fromhex(test["at most"]), box.get(feature, (-math.inf, math.inf))
            sides = [side if side[0] < side[1] else None for side in ((max(low, cut), high), (low, min(high, cut)))]
        else:
            inside = set(test["in"] if "in" in test else [test["is"]])
            left = box.get(feature) or set(range(len(self.features[feature].get("values", (0, 1)))))
            sides = [left - inside or None, left & inside or None]
        for name, side in zip(("no", "yes"), sides):
            if side is not None:
                yield from self.boxes({**box, feature: side}, node[name])


class JournalFile:  # every answer of the run, and every attempt that it opened
    def __init__(self, path, space, run):
        file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        told = {name: json.loads(text) for name, text in file.execute("SELECT name, value FROM run")}
        rows = file.execute("SELECT * FROM answers ORDER BY id").fetchall()
        self.attempts = {row[:2]: row[2:] for row in file.execute("SELECT * FROM attempts")}
        file.close()
        self.space, self.answers, self.together = space, {}, space.bits and told["door"] == "distill"
        self.drawn, self.several = told.get("drawn", [0, 0]), len(told["rungs"]) > 1
        for number, purpose, batch, start, count, digest, kind, inputs, labels, seconds, seal in rows:
            head = json.dumps([purpose, batch, start, count, digest.hex(), kind, seconds.hex()]).encode()
            sealed = hashlib.sha256(head + labels).digest(), hashlib.sha256(inputs).digest()
            need(sealed == (seal, digest), f"record {number} is not as it was sealed")
            shape = f"<{count}{ {'bool': '?', 'float': 'd'}.get(kind, 'q') }"
            found, size = json.loads(labels) if kind == "str" else struct.unpack(shape, labels), len(inputs) // count
            need(len(found) == count and len(inputs) == count * size, f"record {number} is not complete")
            for place, label in enumerate(found):
                self.answers.setdefault(inputs[place * size : place * size + size], set()).add(label)
        for (ledger, number), (_, *opened, labels_since, tests_since) in self.attempts.items():
            need(number == 1 or (ledger, number - 1) in self.attempts, "attempts are missing")
            late = 0 <= opened[0] <= labels_since and 0 <= opened[1] <= tests_since
            need(late if self.several else opened == [labels_since, tests_since], "an attempt counts other inputs")
        theirs = {name: told[name] for name in ("door", "target", "seed", "seed_chosen", "space")} | told["arguments"]
        ours = {**run, "space": space.digest}
        differ = [name for name in {*theirs, *ours} - NOTES if digest_of(ours.get(name)) != digest_of(theirs.get(name))]
        limits = [{name: one[name] for name in LIMITS if name in one} in told["rungs"] for one in (ours, theirs)]
        if differ or not all(limits) or told["lists_answers"]:
            raise Unsure(f"its run has another {', '.join(differ) or 'limit, or way of asking'}")
        need(self.several or sum(run["paid"].values()) == sum(row[4] for row in rows), "the run paid for others")

    def rows(self, told, tree, purpose, since):
        inputs, drawn = self.space.stream(told["seed"], purpose, self.together), self.drawn[purpose == "certify"]
        most = since + told.get("drawn", drawn)
        stop = need(most <= drawn or None not in tree.labels, "fewer inputs were drawn") or min(drawn, most)
        for row in (one for one in itertools.islice(inputs, since, stop) if tree.predict(one) is not None):
            labels = [*self.answers.get(self.space.key(row), ())]
            if len(labels) != 1:
                if labels:
                    raise Unsure("the target answered an input in two ways")
                return
            yield row, labels[0]


class Folder:  # the checks; each ends well, or says why not, or that it could not be made
    def __init__(self, path):
        self.path, self.lines, self.journal, self.space = pathlib.Path(path), [], None, None
        self.certificate, self.run = self.read("certificate.json"), self.read("run.json", {})
        tree, tested = self.read("tree.json"), self.read("tested.json", {})
        self.check("the journal is whole, and its run and its space are those of the certificate", self.open)
        self.check("the files are as they were saved", self.files)
        self.check("call and costs are those of the certificate", self.call, self.certificate, False)
        self.check("tree, bound and answers fit each other", self.point, tree, self.certificate, tested)
        if front := self.read("frontier.json", {}):
            self.check(f"so do all {len(front['points'])} points of the frontier", self.frontier, front)

    def read(self, name, other=None):
        return json.loads(path.read_text("utf-8")) if (path := self.path / name).exists() or other is None else other

    def check(self, about, made, *arguments):
        try:
            made(*arguments)
            self.lines.append(("yes", about))
        except Unsure as why:
            self.lines.append(("-", f"{about}: {why}"))
        except Exception as why:  # noqa: BLE001 - whatever a stranger's file breaks here is a refusal
            self.lines.append(("NO", f"{about}: {why!s:.200}"))

    def open(self):
        if not (self.path / "space.json").exists() or not (self.path / "journal.db").exists():
            raise Unsure("no journal, or no space, is here")
        self.space = Space(self.read("space.json"))
        need(self.space.digest == self.certificate["space_digest"], "the space is another")
        self.journal = JournalFile(self.path / "journal.db", self.space, self.run)

    def files(self):
        if not isinstance(listed := self.run.get("files"), dict):
            raise Unsure("no digests of them are stored")
        for name in {*listed, *(one.name for one in self.path.iterdir())} - {"journal.db", "run.json", "README.txt"}:
            if (self.path / name).is_file() and pathlib.Path(name).suffix in (".json", ".csv", ".html"):
                need(listed.get(name) == digest_of((self.path / name).read_bytes()), f"{name} is not")
            elif name in listed and name != "report.html":
                raise Unsure(f"{name} is not here")

    def call(self, told, of_point):
        run = {"tolerance": None, "defer": None, **self.run}
        wanted = {"asked": told["queries"], "epsilon": told["epsilon"], "defer": True if "coverage" in told else None}
        if of_point or "point" in run:
            asked = None if told["epsilon"] is None else self.run.get("epsilon")
            run["epsilon"] = asked if of_point else run["point"]["epsilon"]
        if told["method"] != "exact":
            wanted |= {name: told[name] for name in ("delta", "seed", "seed_chosen")}
            wanted["deterministic"] = DETERMINISTIC in told["assumes"]
        wanted |= {"tolerance": told.get("tolerance"), **({"strategy": "influence"} if told["split_quality"] else {})}
        usual = PRODUCT if self.space is None or self.space.rows is None else ROWS
        need(self.space is None or told["assumes"] in ([DETERMINISTIC, *usual], usual), "it assumes something else")
        for name, value in wanted.items():
            need(name not in run or digest_of(run[name]) == digest_of(value), f"{name} is not the same")
        if missing := [name for name in (*wanted, "paid", "reason") if name not in run]:
            raise Unsure(f"{', '.join(missing)} is not stored")

    def point(self, tree, told, tested):
        tree, judged = TreeFile(tree), TreeFile(tested or tree)
        bound, epsilon, errors, samples = (told[name] for name in ("error_bound", "epsilon", "errors", "samples"))
        need(told["holds"] is (bound < 1 if epsilon is None else bound <= epsilon), "holds is not what follows")
        kept = [tree.digest, self.certificate["space_digest"], "fidelitree.certificate", 1, None, False]
        need(kept == [told[name] for name in HEAD], "tree, space or kind of certificate is another")
        need((judged.digest if tested else None) == told["tested_digest"], "the tested tree is another")
        if told["method"] == "exact":
            known = json.dumps([told[name] for name in EXACT]) == '[null, null, null, 0.0, 0.0, "separate", 1, true]'
            return need(known and abs(self.exact(tree, told) - bound) <= 1e-9, "the error is another")
        if (helped := told.get("helped") is not None) or [told["method"], told["protocol"]] != PLAIN:
            why = "a surrogate model shortened the test, and only `fidelitree verify` can count that again"
            raise Unsure(why if helped else "only tests of distill and frontier are counted here")
        number = told["attempt"]  # Basel's sum; a frontier's nine at a time
        level = 0.8 * 0.2 ** ((number - 1) // 9) / 9 if told["ledger"] == "frontier" else 6 / (math.pi * number) ** 2
        level *= PARTS[told["ledger"]] * told["delta"]
        need(number <= told["attempts"] and math.isclose(told["level"], level, rel_tol=1e-6), f"not {level:.6g}")
        certified = min(1.0, upper(errors, samples, level) + told["differs"])
        need(math.isclose(bound, certified, rel_tol=1e-6), f"{errors} errors among {samples} give {certified:.6g}")
        if (defers := None in tree.labels) and self.space is None:
            raise Unsure("how often inputs reach a leaf is not known here")
        drawn, boxes = told["drawn"] if defers else 0, (box for label, box in tree.boxes({}) if label is not None)
        some = 1 - upper(drawn - samples, drawn, level * 0.048 / 0.92) if defers else 1  # one more bet
        least = self.space.mass(boxes) if defers and self.space.rows is None else some
        need(abs(told.get("coverage", 1) - least) <= 1e-6, f"it answers {least:.6g} of inputs")
        if self.journal is None or (tested and self.space.rows is not None):
            raise Unsure("its answers are not here, or nobody knows how often rows reach a leaf")
        both = ((*one, *two) for one in tree.boxes({}) for two in judged.boxes(one[1]))
        apart = self.space.mass(box for a, _, b, box in both if a != b)
        need(abs(apart - told["differs"]) <= 1e-9, "it is farther from the tested tree")
        return self.count(judged, told)

    def exact(self, tree, told):
        if self.journal is None or (rows := math.prod(len(one.pieces) for one in self.space.features)) > 1 << 20:
            raise Unsure("only the target itself can confirm an exact error")
        wrong = need(told["samples"] == rows and DETERMINISTIC in told["assumes"], "it is not about every input") or []
        for point in itertools.product(*(one.pieces for one in self.space.features)):
            labels = self.journal.answers.get(self.space.key(row := [x for x, _, _ in point]))
            if labels is None:
                raise Unsure("not every input was asked")
            wrong += [math.prod(share for _, _, share in point)] if labels != {tree.predict(row)} else []
        return math.fsum(wrong)

    def count(self, tree, told):
        journal, ledger, samples = self.journal, told["ledger"], told["samples"]
        digest, *opened, labels, tests = journal.attempts[ledger, told["attempt"]]
        in_all = max(number for name, number in journal.attempts if name == ledger)
        need(digest == tree.digest, "the attempt in the journal is for another tree")
        need(in_all == told["attempts"] or (journal.several and told["attempts"] < in_all), "attempts are missing")
        if ledger == "standing" and journal.drawn[0] and opened != [labels, tests]:
            raise Unsure("an earlier run went through the same inputs")
        streams = (("certify", tests), ("label", labels))[: 2 if ledger == "standing" else 1]
        found = [itertools.islice(journal.rows(told, tree, *one), samples + (None in tree.labels)) for one in streams]
        far = (lambda a, b: a != b) if (near := told.get("tolerance")) is None else lambda a, b: abs(a - b) > near
        sums = [[0, *itertools.accumulate(far(tree.predict(row), label) for row, label in rows)] for rows in found]
        one, two = (*sums, [0])[:2]  # the two streams may come in any turn
        ways = [b for b in range(len(two)) if 0 <= samples - b < len(one) <= samples + 1]
        need(any(one[samples - b] + two[b] == told["errors"] for b in ways), "the answers give other counts")

    def frontier(self, front):
        for one in front["points"]:
            self.call(one["certificate"], True)
            self.point(one["tree"], one["certificate"], one["tested"])
        kept, leaves = {*self.certificate} - {"epsilon", "holds"}, self.run.get("point", {}).get("leaves")
        mine = digest_of([leaves, {name: self.certificate[name] for name in kept}])
        found = (digest_of([one["leaves"], {k: one["certificate"][k] for k in kept}]) for one in front["points"])
        fits = digest_of(front["delta"]) == digest_of(self.run["delta"]) and ("point" not in self.run or mine in found)
        need(fits, "delta is another, or the tree is no point of the frontier")


def main(folder):
    """Print every check and the verdict; the exit code."""
    try:
        lines, held = (found := Folder(folder)).lines, found.certificate["holds"]
    except Exception as why:  # noqa: BLE001 - the same
        lines, held = [("NO", f"{folder} can be read: {why!s:.200}")], False
    code, verdict = (0, "confirmed") if held else (3, "confirmed: the error asked for was not reached")
    code, verdict = (5, "undecided") if "-" in dict(lines) else (code, verdict)
    code, verdict = (2, "do not rely on this folder") if "NO" in dict(lines) else (code, verdict)
    ends = f"    not checked: {NOT_CHECKED}\n    {verdict}\n"
    sys.stdout.write("".join(f"{one:<4}{sentence}\n" for one, sentence in lines) + ends)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent))
