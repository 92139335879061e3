"""Kernels for CUDA devices, in Triton, which torch brings along; `lanes` and `philox` have their twins in torch.

Tiles are counters by features: neighbouring threads write neighbouring features of one row. In the first two rounds of
Philox half of the words depend on the counter alone and half on the lane alone, and a tile computes them once for each.
"""

import triton
import triton.language as tl

_ANY = ["block", "rows", "lane", "counters"]  # numbers that must not lead to a kernel of their own


@triton.jit
def _round(a, b, c, d, one, two):
    return (
        tl.umulhi(c, 0xCA5A826395121157) ^ b ^ one,
        c * 0xCA5A826395121157,
        tl.umulhi(a, 0xD2E7470EE14C6C93) ^ d ^ two,
        a * 0xD2E7470EE14C6C93,
    )


@triton.jit
def _philox(key, number, lane, block):
    one = tl.load(key).to(tl.uint64, bitcast=True)
    two = tl.load(key + 1).to(tl.uint64, bitcast=True)
    a, c = number.to(tl.uint64), lane.to(tl.uint64)
    b, d = a & 0, block.to(tl.uint64)
    a, b, c, d = _round(a, b, c, d, one, two)
    for _ in tl.static_range(9):
        one += 0x9E3779B97F4A7C15
        two += 0xBB67AE8584CAA73B
        a, b, c, d = _round(a, b, c, d, one, two)
    return a, b, c, d


@triton.jit
def _eight(out, word, row, column, rows, n, limit, tied, place: tl.constexpr):
    """Eight bits from a word; which of them tie, as a set, and how many."""
    ties = tl.zeros(word.shape, tl.int32)
    count = tl.zeros(word.shape, tl.int32)
    for half in tl.static_range(2):
        part = (word >> (32 * half)).to(tl.uint32)
        for k in tl.static_range(4):
            octet = ((part >> (8 * k)) & 255).to(tl.int32)
            here = row + place * 8 + half * 4 + k
            inside = (here < rows) & (column < n)
            tl.store(out + here.to(tl.int64) * n + column, (octet < limit).to(out.dtype.element_ty), mask=inside)
            tie = ((octet == tied) & inside).to(tl.int32)
            ties |= tie << (place * 8 + half * 4 + k)
            count += tie
    return ties, count


@triton.jit(do_not_specialize=_ANY)
def draw_bits(
    out,
    key,
    limits,
    tied,
    ties,
    counts,
    n,
    rows,
    block,
    lane,
    counters,
    TIES: tl.constexpr,
    J: tl.constexpr,
    F: tl.constexpr,
):
    column = tl.program_id(0) * F + tl.arange(0, F)[None, :]
    number = tl.program_id(1) * J + tl.arange(0, J)[:, None]
    own = tl.program_id(2)
    a, b, c, d = _philox(key, number + 1, column + lane, block + own)
    limit = tl.load(limits + column, mask=column < n, other=0)
    tie = tl.load(tied + column, mask=column < n, other=-1)
    start = out + own.to(tl.int64) * rows * n
    row = number * 32
    t0, n0 = _eight(start, a, row, column, rows, n, limit, tie, 0)
    t1, n1 = _eight(start, b, row, column, rows, n, limit, tie, 1)
    t2, n2 = _eight(start, c, row, column, rows, n, limit, tie, 2)
    t3, n3 = _eight(start, d, row, column, rows, n, limit, tie, 3)
    if TIES:
        place = (own.to(tl.int64) * counters + number) * n + column
        inside = (number < counters) & (column < n)
        tl.store(ties + place, t0 | t1 | t2 | t3, mask=inside)
        tl.store(counts + place, n0 + n1 + n2 + n3, mask=inside)


@triton.jit(do_not_specialize=_ANY)
def settle_ties(out, key, rest, ties, before, n, rows, block, lane, counters, J: tl.constexpr, F: tl.constexpr):
    """What ties on its first byte reads a word of its own, after all bytes of the lane, in the order of the rows."""
    column = tl.program_id(0) * F + tl.arange(0, F)[None, :]
    number = tl.program_id(1) * J + tl.arange(0, J)[:, None]
    own = tl.program_id(2)
    inside = (number < counters) & (column < n)
    place = (own.to(tl.int64) * counters + number) * n + column
    left = tl.load(ties + place, mask=inside, other=0).to(tl.uint32, bitcast=True)
    rank = tl.load(before + place, mask=inside, other=0)
    limit = tl.load(rest + column, mask=column < n, other=0).to(tl.uint64)
    start = out + own.to(tl.int64) * rows * n
    while tl.max(tl.max((left != 0).to(tl.int32), axis=1), axis=0) > 0:
        lowest = left & (~left + 1)
        bit = (lowest.to(tl.float32).to(tl.int32, bitcast=True) >> 23) - 127  # the exponent of a power of two
        word = (rows + 7) // 8 + rank
        a, b, c, d = _philox(key, 1 + word // 4, column + lane, block + own)
        which = word % 4
        found = tl.where(which == 0, a, tl.where(which == 1, b, tl.where(which == 2, c, d)))
        value = ((found >> 19) < limit).to(out.dtype.element_ty)
        row = number * 32 + bit
        tl.store(start + row.to(tl.int64) * n + column, value, mask=left != 0)
        rank += (left != 0).to(tl.int32)
        left ^= lowest


@triton.jit
def _uniform(word):
    return (word >> 11).to(tl.float64) * 1.1102230246251565e-16


@triton.jit
def _ones(word, row, rows, ends, width, most):
    """How many ones each row has: where its slice ends among the chances of all numbers."""
    slices = (row.to(tl.float64) + _uniform(word)) / rows.to(tl.float64)
    left = tl.zeros(word.shape, tl.int32)
    for s in range(width):
        left += (tl.load(ends + s) <= slices).to(tl.int32)
    return tl.minimum(left, most)


@triton.jit
def _balanced_bit(start, word, row, rows, n, column, left, bias, chances, place, width):
    below = tl.load(chances + (place + 1) * width + tl.maximum(left - 1, 0))
    one = bias * tl.where(left > 0, below, 0.0)
    value = (_uniform(word) * tl.load(chances + place * width + left) < one).to(tl.int32)
    tl.store(start + row.to(tl.int64) * n + column, value.to(tl.uint8), mask=row < rows)
    return left - value


@triton.jit(do_not_specialize=[*_ANY, "most", "places", "width", "n"])
def draw_balanced(out, key, free, biases, chances, ends, n, rows, block, places, width, most, J: tl.constexpr):
    """Bits of rows that were given their number of ones first: `analysis.stars` says why."""
    number = tl.program_id(0) * J + tl.arange(0, J)
    own = tl.program_id(1)
    start = out + own.to(tl.int64) * rows * n
    row = number * 4
    a, b, c, d = _philox(key, number + 1, tl.zeros([J], tl.int32) + 2 * n, block + own)
    l0 = _ones(a, row, rows, ends, width, most)
    l1 = _ones(b, row + 1, rows, ends, width, most)
    l2 = _ones(c, row + 2, rows, ends, width, most)
    l3 = _ones(d, row + 3, rows, ends, width, most)
    for place in range(places):
        column = tl.load(free + place)
        bias = tl.load(biases + place)
        a, b, c, d = _philox(key, number + 1, tl.zeros([J], tl.int32) + column, block + own)
        l0 = _balanced_bit(start, a, row, rows, n, column, l0, bias, chances, place, width)
        l1 = _balanced_bit(start, b, row + 1, rows, n, column, l1, bias, chances, place, width)
        l2 = _balanced_bit(start, c, row + 2, rows, n, column, l2, bias, chances, place, width)
        l3 = _balanced_bit(start, d, row + 3, rows, n, column, l3, bias, chances, place, width)


@triton.jit(do_not_specialize=["rows", "parts", "first"])
def hybrids(
    out, inputs, changed, features, n, rows, parts, first, FLIP: tl.constexpr, R: tl.constexpr, F: tl.constexpr
):
    """Inputs as they are, then once for each of some features with another value of it."""
    row = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    part = tl.program_id(1)
    feature = tl.load(features + part)
    values = tl.zeros([R, 1], tl.int32)
    if feature >= 0:
        at = (first + row).to(tl.int64) * n + feature
        values = tl.load(changed + at, mask=row < rows, other=0).to(tl.int32)
        if FLIP:
            values = 1 - values
    start = out + part.to(tl.int64) * rows * n
    for begin in range(0, n, F):
        column = begin + tl.arange(0, F)[None, :]
        inside = (row < rows) & (column < n)
        value = tl.load(inputs + (first + row).to(tl.int64) * n + column, mask=inside, other=0).to(tl.int32)
        value = tl.where(column == feature, values, value)
        tl.store(start + row.to(tl.int64) * n + column, value.to(out.dtype.element_ty), mask=inside)


@triton.jit(do_not_specialize=["rows", "depth"])
def walk(out, inputs, feature, no, yes, n, rows, depth, R: tl.constexpr):
    """The node at which each row ends; a leaf leads to itself."""
    row = tl.program_id(0) * R + tl.arange(0, R)
    node = tl.zeros([R], tl.int32)
    for _ in range(depth):
        value = tl.load(inputs + row.to(tl.int64) * n + tl.load(feature + node), mask=row < rows, other=0)
        node = tl.where(value != 0, tl.load(yes + node), tl.load(no + node))
    tl.store(out + row, node, mask=row < rows)


@triton.jit(do_not_specialize=["rows", "width", "height"])
def tally(out, nodes, held, codes, rows, width, height, BINS: tl.constexpr, R: tl.constexpr):
    """How many rows have each pair of what their node holds and their code; the last bin has codes that are none."""
    row = tl.program_id(0) * R + tl.arange(0, R)
    there = row < rows
    node = tl.load(nodes + row, mask=there, other=0)
    code = tl.load(codes + row, mask=there, other=0).to(tl.int32)
    wrong = (code < 0) | (code >= width)
    cell = tl.where(wrong, height * width, tl.load(held + node) * width + code)
    found = tl.histogram(tl.where(there, cell, height * width + 1), BINS)
    tl.atomic_add(out + tl.arange(0, BINS), found.to(tl.int64))


@triton.jit
def _mass(word, octets):
    """The mass of a word's set bits, byte by byte."""
    one = tl.load(octets + (word & 255)) + tl.load(octets + 256 + ((word >> 8) & 255))
    two = tl.load(octets + 512 + ((word >> 16) & 255)) + tl.load(octets + 768 + (word >> 24))
    return one + two


@triton.jit
def changes_outside(
    table, octets, low, high, likely, out, digits, words, LB: tl.constexpr, B: tl.constexpr, C: tl.constexpr
):
    """For a slot beyond the words, words in pairs: where they differ, weighed by the place of the likelier word."""
    slot = tl.program_id(1)
    step = 1 << slot.to(tl.int64)
    aside = tl.load(likely + slot) * step
    total = tl.zeros([B], tl.float64)
    start = tl.program_id(0).to(tl.int64) * (B * C)
    for c in range(C):
        pair = start + c * B + tl.arange(0, B)
        w = pair + (pair & (-step))
        apart = tl.load(table + w) ^ tl.load(table + w + step)
        for digit in range(1, digits):
            apart |= tl.load(table + digit * words + w) ^ tl.load(table + digit * words + w + step)
        at = w + aside
        weight = tl.load(low + (at & ((1 << LB) - 1)).to(tl.int32)) * tl.load(high + (at >> LB).to(tl.int32))
        total += _mass(apart.to(tl.uint32, bitcast=True), octets) * weight
    tl.store(out + slot * tl.num_programs(0) + tl.program_id(0), tl.sum(total))


@triton.jit
def _paired(table, w, digits, words, first, mask: tl.constexpr, shift: tl.constexpr):
    """Both positions of a pair inside a word where they differ."""
    apart = first ^ (first >> shift)
    for digit in range(1, digits):
        word = tl.load(table + digit * words + w).to(tl.uint32, bitcast=True)
        apart |= word ^ (word >> shift)
    apart = apart & mask
    return apart | (apart << shift)


@triton.jit
def changes_inside(table, octets, low, high, out, digits, words, LB: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """The five slots inside a word."""
    a0 = tl.zeros([B], tl.float64)
    a1, a2, a3, a4 = a0, a0, a0, a0
    start = tl.program_id(0).to(tl.int64) * (B * C)
    for c in range(C):
        w = start + c * B + tl.arange(0, B)
        word = tl.load(table + w).to(tl.uint32, bitcast=True)
        weight = tl.load(low + (w & ((1 << LB) - 1)).to(tl.int32)) * tl.load(high + (w >> LB).to(tl.int32))
        a0 += _mass(_paired(table, w, digits, words, word, 0x55555555, 1), octets) * weight
        a1 += _mass(_paired(table, w, digits, words, word, 0x33333333, 2), octets) * weight
        a2 += _mass(_paired(table, w, digits, words, word, 0x0F0F0F0F, 4), octets) * weight
        a3 += _mass(_paired(table, w, digits, words, word, 0x00FF00FF, 8), octets) * weight
        a4 += _mass(_paired(table, w, digits, words, word, 0x0000FFFF, 16), octets) * weight
    own, programs = tl.program_id(0), tl.num_programs(0)
    tl.store(out + own, tl.sum(a0))
    tl.store(out + programs + own, tl.sum(a1))
    tl.store(out + 2 * programs + own, tl.sum(a2))
    tl.store(out + 3 * programs + own, tl.sum(a3))
    tl.store(out + 4 * programs + own, tl.sum(a4))


@triton.jit(do_not_specialize=["start"])
def list_bits(out, start, n, R: tl.constexpr, F: tl.constexpr):
    """Inputs by their numbers: feature i is bit i."""
    row = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)[:, None]
    column = tl.arange(0, F)[None, :]
    value = ((start + row) >> column) & 1
    tl.store(out + row * n + column, value.to(out.dtype.element_ty), mask=column < n)


@triton.jit
def pack_bits(out, codes, digit, B: tl.constexpr):
    """One digit of 32 codes to a word."""
    word = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    found = tl.zeros([B], tl.uint32)
    for k in range(32):
        found |= ((tl.load(codes + word * 32 + k) >> digit) & 1).to(tl.uint32) << k
    tl.store(out + word, found.to(tl.int32, bitcast=True))
