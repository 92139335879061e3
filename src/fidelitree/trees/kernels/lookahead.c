/* The first split of the cheapest tree of depth up to 4 for labelled rows of bits, by popcounts.

   The twin is search/bits/lookahead.py, and its order of additions is kept: (one side + other side) + penalty, in single
   precision; counts are whole numbers below 2^24, so that no order matters to them.

   Rows are packed 64 to a word, label after label, a row of weight w as w rows. How many of them have ones in all
   features of a set is counted; how many have any other pattern follows by inclusion and exclusion. Tables hold, for a
   set of features in increasing order, a vector over its last one: a "line" for each pattern of values, that of the
   last feature changing first. Entries of features that are not later than the others are infinite. */

#include "lookahead.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Eight features at once; a compiler splits it where the processor has shorter vectors. */
typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t Signs __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

typedef struct {
    int features, stride, labels; /* stride: features, rounded up to whole vectors */
    int deepest;                  /* features of the largest sets; these have no tables */
    size_t each[DEEPEST];         /* of the tables below, entries for each label */
    const int *first;             /* where each label's words begin; one more entry ends the last */
    const float *total;           /* rows of each label */
    const uint64_t *columns;      /* features x words */
    const float *penalty;         /* infinite beyond the last feature */
    float *ones[DEEPEST];         /* ones[s]: rows with ones in sets of s + 1 features, one table a label */
    float *errors[DEEPEST];       /* what the best label gets wrong, 2^(s + 1) lines a set */
    float *costs[DEEPEST];        /* the same, or the cheapest tree below */
    uint64_t *mask[DEEPEST];      /* rows with ones in the first features of a set */
} Node;

/* Where the vector of a set begins, which is given without its last feature; sets of more than two have no table. */
INLINE size_t place(const Node *node, const int *set, int size)
{
    const int at = size == 1 ? set[0] : size == 2 ? set[0] * (2 * node->features - set[0] - 3) / 2 + set[1] - 1 : 0;
    return (size_t)at * (size_t)node->stride;
}

INLINE size_t table(const Node *node, int size)
{
    const size_t features = (size_t)node->features, sets = size == 2 ? features * (features - 1) / 2 : features;
    return (size ? sets : 1) * (size_t)node->stride;
}

/* Rows of a label with ones in a set, whose place is known, and in each later feature. */
INLINE float *ones_at(const Node *node, int label, size_t place, int size)
{
    return node->ones[size] + (size_t)label * node->each[size] + (size == node->deepest - 1 ? 0 : place);
}

/* Counts them, for one label. */
INLINE void count_ones(const Node *node, const uint64_t *mask, int label, int from, float *out)
{
    int words = node->first[node->labels], begin = node->first[label], end = node->first[label + 1];
    for (int f = from; f < node->features; f++) {
        const uint64_t *column = node->columns + (size_t)f * (size_t)words;
        int found = 0;
        for (int w = begin; w < end; w++)
            found += __builtin_popcountll(mask[w] & column[w]);
        out[f] = (float)found;
    }
}

/* A set of features, and the places of its parts: those that are one in a pattern. */
typedef struct {
    int set[DEEPEST], size;
    size_t places[1 << (DEEPEST - 1)];
} Set;

INLINE void find_places(const Node *node, Set *of)
{
    for (int pattern = 0; pattern < 1 << of->size; pattern++) {
        int part[DEEPEST], parts = 0;
        for (int k = 0; k < of->size; k++)
            if (pattern >> (of->size - 1 - k) & 1)
                part[parts++] = of->set[k];
        of->places[pattern] = place(node, part, parts);
    }
}

/* Rows of one label with each pattern over a set of features. */
INLINE void pattern_counts(const Node *node, const Set *of, int size, int label, float *found)
{
    found[0] = node->total[label];
    for (int pattern = 1; pattern < 1 << size; pattern++) {
        int last = of->set[size - 1 - __builtin_ctz((unsigned)pattern)], parts = __builtin_popcount((unsigned)pattern);
        found[pattern] = ones_at(node, label, of->places[pattern & (pattern - 1)], parts - 1)[last];
    }
    for (int bit = 1; bit < 1 << size; bit <<= 1)
        for (int pattern = 0; pattern < 1 << size; pattern++)
            if (!(pattern & bit))
                found[pattern] -= found[pattern | bit];
}

/* Vectors lie anywhere in tables. */
static const Signs EIGHT = {0, 1, 2, 3, 4, 5, 6, 7};

#define AT(table, place) (*(Lanes *)((table) + (place)))

INLINE void keep_less(Lanes *one, const Lanes *other)
{
    Signs less = *other < *one;
    *one = (Lanes)(((Signs)*other & less) | ((Signs)*one & ~less));
}

INLINE void keep_more(Lanes *one, const Lanes *other)
{
    Signs more = *other > *one;
    *one = (Lanes)(((Signs)*other & more) | ((Signs)*one & ~more));
}

/* Rows of one label with each pattern over a set and one of eight later features; lines change with the last first. */
INLINE void label_lines(const Node *node, const Set *of, int size, int label, int at, Lanes *lines)
{
    float counts[1 << DEEPEST];
    Lanes yes[1 << (DEEPEST - 1)];
    pattern_counts(node, of, size, label, counts);
    for (int pattern = 0; pattern < 1 << size; pattern++)
        yes[pattern] = AT(ones_at(node, label, of->places[pattern], __builtin_popcount((unsigned)pattern)), at);
    for (int bit = 1; bit < 1 << size; bit <<= 1)
        for (int pattern = 0; pattern < 1 << size; pattern++)
            if (!(pattern & bit))
                yes[pattern] -= yes[pattern | bit];
    for (int pattern = 0; pattern < 1 << size; pattern++) {
        lines[2 * pattern] = counts[pattern] - yes[pattern];
        lines[2 * pattern + 1] = yes[pattern];
    }
}

/* What the best label gets wrong there: the smaller of two, or all but the largest. */
INLINE void wrong_lines(const Node *node, const Set *of, int size, int at, Lanes *out)
{
    Lanes lines[1 << DEEPEST], all[1 << DEEPEST];
    label_lines(node, of, size, 0, at, out);
    if (node->labels == 2) {
        label_lines(node, of, size, 1, at, lines);
        for (int line = 0; line < 2 << size; line++)
            keep_less(&out[line], &lines[line]);
        return;
    }
    for (int line = 0; line < 2 << size; line++)
        all[line] = out[line];
    for (int label = 1; label < node->labels; label++) {
        label_lines(node, of, size, label, at, lines);
        for (int line = 0; line < 2 << size; line++) {
            all[line] += lines[line];
            keep_more(&out[line], &lines[line]);
        }
    }
    for (int line = 0; line < 2 << size; line++)
        out[line] = all[line] - out[line];
}

/* Splits on the k-th of a set's features lower the cost of the others with each later one. */
INLINE void split_on(const Node *node, Lanes *lines, const Set *of, int size, int k, int at)
{
    const int bit = 1 << (size - k); /* of a pattern that has the last feature, too */
    const float penalty = node->penalty[of->set[k]];
    float *lowered = node->costs[size - 1] + (of->places[((1 << size) - 1) ^ bit >> 1] << size) + at;
    for (int pattern = 0; pattern < 1 << size; pattern++) {
        int no = (pattern & -bit) << 1 | (pattern & (bit - 1));
        Lanes split = lines[no] + lines[no + bit] + penalty;
        keep_less(&AT(lowered, pattern * node->stride), &split);
    }
}

/* Lines of a set and eight later features lower the costs of smaller sets; ``least`` is that of splits on the last. */
INLINE void lower_lanes(const Node *node, Lanes *lines, const Set *of, int size, int at, Lanes *least)
{
    for (int pattern = 0; pattern < 1 << size; pattern++) {
        Lanes split = lines[2 * pattern] + lines[2 * pattern + 1] + AT(node->penalty, at);
        keep_less(&least[pattern], &split);
    }
    for (int k = 0; k < size; k++)
        split_on(node, lines, of, size, k, at);
}

/* Works through the later features of a set; with ``count`` its errors are counted, else costs are read. */
INLINE void work_through(const Node *node, const Set *of, int size, int count)
{
    const int from = size ? of->set[size - 1] + 1 : 0, kept = size < node->deepest - 1, stride = node->stride;
    const size_t here = kept ? of->places[(1 << size) - 1] << (size + 1) : 0;
    Lanes lines[1 << DEEPEST], least[1 << (DEEPEST - 1)];
    for (int pattern = 0; pattern < 1 << size; pattern++)
        least[pattern] = (Lanes){0} + INFINITY;
    for (int at = from / LANES * LANES; at < stride; at += LANES) {
        float *lies = (count ? node->errors : node->costs)[size] + here + at;
        if (count) {
            wrong_lines(node, of, size, at, lines);
            if (at < from) {
                const Signs none = (Signs)((Lanes){0} + INFINITY), late = from - at <= EIGHT;
                for (int line = 0; line < 2 << size; line++)
                    lines[line] = (Lanes)(((Signs)lines[line] & late) | (none & ~late));
            }
            if (kept || !size)
                for (int line = 0; line < 2 << size; line++)
                    AT(lies, line * stride) = lines[line];
        } else
            for (int line = 0; line < 2 << size; line++)
                lines[line] = AT(lies, line * stride);
        if (size)
            lower_lanes(node, lines, of, size, at, least);
    }
    for (int pattern = 0; size && pattern < 1 << size; pattern++) {
        float *cost = node->costs[size - 1] + (of->places[((1 << size) - 1) ^ 1] << size) + pattern * stride + from - 1;
        for (int lane = 0; lane < LANES; lane++)
            *cost = least[pattern][lane] < *cost ? least[pattern][lane] : *cost;
    }
}

/* The next set of so many features, in order; 0 after the last. A set needs a later feature beside it. */
INLINE int next_set(const Node *node, int *set, int size)
{
    int k = size - 1;
    while (k >= 0 && set[k] == node->features - 1 - (size - k))
        k--;
    if (k < 0)
        return 0;
    set[k]++;
    for (int j = k + 1; j < size; j++)
        set[j] = set[j - 1] + 1;
    return 1;
}

INLINE void mask_set(const Node *node, const int *set, int size)
{
    const int words = node->first[node->labels];
    for (int k = 0; k < size; k++) { /* all of them: only the last few change, but they are few */
        const uint64_t *column = node->columns + (size_t)set[k] * (size_t)words;
        for (int w = 0; w < words; w++)
            node->mask[k + 1][w] = node->mask[k][w] & column[w];
    }
}

/* Errors of all sets of ``size`` + 1 features are counted, or their costs are read; they lower those of smaller sets. */
INLINE void all_sets(const Node *node, int size, int count)
{
    Set of = {{0}, size, {0}};
    for (int k = 0; k < size; k++)
        of.set[k] = k;
    do {
        find_places(node, &of);
        if (count) {
            mask_set(node, of.set, size);
            for (int label = 0; label < node->labels; label++)
                count_ones(node, node->mask[size], label, size ? of.set[size - 1] + 1 : 0,
                           ones_at(node, label, of.places[(1 << size) - 1], size));
        }
        work_through(node, &of, size, count);
    } while (next_set(node, of.set, size));
}

/* For each size a copy of its own, in which all short loops are unrolled. */
CLONES static void count_errors(const Node *node, int size)
{
    switch (size) {
    case 0: all_sets(node, 0, 1); break;
    case 1: all_sets(node, 1, 1); break;
    case 2: all_sets(node, 2, 1); break;
    case 3: all_sets(node, 3, 1); break;
    }
}

CLONES static void lower_all(const Node *node, int size)
{
    switch (size) {
    case 1: all_sets(node, 1, 0); break;
    case 2: all_sets(node, 2, 0); break;
    }
}

/* The cost of the best tree up to a depth that starts with each feature; depths are asked for in order, from 1. */
static void find_costs(const Node *node, int depth, float *out)
{
    const size_t stride = (size_t)node->stride;
    for (int size = 0; size < depth - 1; size++)
        memcpy(node->costs[size], node->errors[size], (table(node, size) << (size + 1)) * sizeof(float));
    count_errors(node, depth - 1);
    for (int size = depth - 2; size > 0; size--)
        lower_all(node, size);
    const float *root = depth > 1 ? node->costs[0] : node->errors[0];
    for (int f = 0; f < node->features; f++)
        out[f] = root[f] + root[stride + (size_t)f] + node->penalty[f];
}

/* Room for the tables of a node with so many features, labels and words; NULL where there is none. */
static void *node_room(Node *node, int words)
{
    const int deepest = node->deepest;
    size_t floats = 0, sizes[3][DEEPEST] = {{0}};
    for (int s = 0; s < deepest; s++) {
        size_t whole = s < deepest - 1 ? table(node, s) : (size_t)node->stride;
        node->each[s] = whole;
        sizes[0][s] = whole * (size_t)node->labels;
        sizes[1][s] = whole << (s + 1);
        sizes[2][s] = s < deepest - 1 ? whole << (s + 1) : 0;
        floats += sizes[0][s] + sizes[1][s] + sizes[2][s];
    }
    uint64_t *room = calloc((size_t)deepest * (size_t)words + floats / 2 + 1, sizeof *room);
    if (!room)
        return NULL;
    uint64_t *next_words = room;
    for (int s = 0; s < deepest; s++, next_words += words)
        node->mask[s] = next_words;
    float *next = (float *)next_words;
    float **tables[3] = {node->ones, node->errors, node->costs};
    for (int t = 0; t < 3; t++)
        for (int s = 0; s < deepest; s++) {
            tables[t][s] = next;
            next += sizes[t][s];
        }
    return room;
}

static void all_rows(const Packed *packed, uint64_t *mask)
{
    for (int label = 0; label < packed->labels; label++) {
        int rows = (int)packed->total[label];
        for (int w = packed->first[label]; w < packed->first[label + 1]; w++, rows -= 64)
            mask[w] = rows >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << rows) - 1;
    }
}

int lookahead_costs(const Packed *packed, int deepest, float least, float *out)
{
    Node node = {packed->features, (packed->features + LANES - 1) / LANES * LANES, packed->labels, 0, {0}, packed->first,
                 packed->total, packed->columns, packed->penalty, {0}, {0}, {0}, {0}};
    node.deepest = deepest < packed->features ? deepest : packed->features;
    void *room = node_room(&node, packed->words);
    if (!room)
        return -1;
    all_rows(packed, node.mask[0]);
    for (int depth = 1; depth <= node.deepest; depth++) {
        find_costs(&node, depth, out);
        float best = INFINITY;
        for (int f = 0; f < node.features; f++)
            best = out[f] < best ? out[f] : best;
        if (best <= (float)(depth + 1) * least)
            break;
    }
    free(room);
    return 0;
}
