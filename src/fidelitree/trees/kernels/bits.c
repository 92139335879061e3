/* What a node of a tree over bits becomes: a leaf, or a split by which its rows are parted.

   The twin is search/bits/first_split.py. Rows are packed 64 to a word, label after label, a row of weight w as w
   rows; looking ahead is in lookahead.c. */

#include "lookahead.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights add up to less than MOST_MASS, so that counts are exact in single precision. Beyond CROWD features only those
   that part labels best alone are looked at several splits ahead. */
enum { MOST_MASS = 1 << 24, CROWD = 64 };

/* The split that is chosen: its feature, or -1, and its cost. */
typedef struct {
    int feature;
    float cost;
} Split;

typedef struct {
    float cost;
    int feature;
} Ranked;

static int by_cost(const void *one, const void *two)
{
    const Ranked *a = one, *b = two;
    return a->cost != b->cost ? (a->cost < b->cost ? -1 : 1) : a->feature - b->feature;
}

/* Keeps only the features whose splits alone cost least, and the old one: looking ahead takes the cube of them. */
static int keep_best(Packed *packed, float *cost, int old)
{
    Ranked *ranked = malloc((size_t)packed->features * sizeof *ranked);
    if (!ranked)
        return -1;
    for (int f = 0; f < packed->features; f++)
        ranked[f] = (Ranked){packed->names[f] == old ? -1 : cost[f], f};
    qsort(ranked, (size_t)packed->features, sizeof *ranked, by_cost);
    int crowd = CROWD + (ranked[0].cost < 0);
    for (int k = 0; k < packed->features; k++)
        cost[ranked[k].feature] = k < crowd ? 1 : 0;
    free(ranked);
    int kept = 0;
    for (int f = 0; f < packed->features; f++)
        if (cost[f] > 0) {
            packed->names[kept] = packed->names[f];
            packed->penalty[kept] = packed->penalty[f];
            memmove(packed->columns + (size_t)kept * (size_t)packed->words,
                    packed->columns + (size_t)f * (size_t)packed->words, (size_t)packed->words * sizeof(uint64_t));
            kept++;
        }
    packed->features = kept;
    for (int f = kept; f % LANES; f++)
        packed->penalty[f] = INFINITY;
    return 0;
}

static int best_split(Packed *packed, int horizon, int old, Split *split)
{
    float *cost = malloc((size_t)(packed->features + LANES) * sizeof *cost), least = INFINITY;
    int failed = !cost;
    for (int f = 0; f < packed->features; f++)
        least = packed->penalty[f] < least ? packed->penalty[f] : least;
    if (!failed && packed->features > CROWD && horizon > 1) {
        failed = lookahead_costs(packed, 1, least, cost);
        float best = INFINITY;
        for (int f = 0; !failed && f < packed->features; f++)
            best = cost[f] < best ? cost[f] : best;
        if (!failed && best <= 2 * least)
            horizon = 1;
        else if (!failed)
            failed = keep_best(packed, cost, old);
    }
    if (failed || lookahead_costs(packed, horizon, least, cost) < 0) {
        free(cost);
        return -1;
    }
    int best = 0, before = -1;
    for (int f = 0; f < packed->features; f++) {
        best = cost[f] < cost[best] ? f : best;
        before = packed->names[f] == old ? f : before;
    }
    if (before >= 0 && cost[before] <= cost[best] + 1e-4f)
        best = before;
    *split = (Split){packed->names[best], cost[best]};
    free(cost);
    return 0;
}

typedef struct {
    const uint8_t *bits; /* rows x features */
    const int64_t *codes;
    const float *weights, *penalties;
    int32_t *order;
    Py_ssize_t features;
    int start, stop, horizon, old;
} Rows;

typedef struct {
    int64_t label;
    int feature, middle;
    double mass[2];
} Found;

/* Fills the columns of a node, label after label, and drops features that do not vary. */
static void pack(const Rows *rows, Packed *packed, uint64_t *words)
{
    const size_t features = (size_t)rows->features, all = (size_t)packed->words;
    int label = -1, bit = 0, word = -1;
    for (int i = rows->start; i < rows->stop; i++) {
        const uint8_t *row = rows->bits + (size_t)rows->order[i] * features;
        int64_t code = rows->codes[rows->order[i]];
        if (label < 0 || code != rows->codes[rows->order[i - 1]]) {
            label++;
            bit = 64;
        }
        for (int copies = (int)rows->weights[rows->order[i]]; copies; copies--) {
            if (bit == 64) {
                for (size_t f = 0; word >= 0 && f < features; f++)
                    packed->columns[f * all + (size_t)word] = words[f];
                memset(words, 0, features * sizeof *words);
                bit = 0;
                word++;
            }
            for (size_t f = 0; f < features; f++)
                words[f] |= (uint64_t)(row[f] != 0) << bit;
            bit++;
        }
    }
    for (size_t f = 0; f < features; f++)
        packed->columns[f * all + (size_t)word] = words[f];
}

CLONES static void drop_constant(const Rows *rows, Packed *packed)
{
    int kept = 0;
    for (Py_ssize_t f = 0; f < rows->features; f++) {
        const uint64_t *column = packed->columns + (size_t)f * (size_t)packed->words;
        int64_t ones = 0;
        for (int w = 0; w < packed->words; w++)
            ones += __builtin_popcountll(column[w]);
        if (ones && ones < packed->rows) {
            packed->names[kept] = (int)f;
            packed->penalty[kept] = rows->penalties[f];
            memmove(packed->columns + (size_t)kept * (size_t)packed->words, column,
                    (size_t)packed->words * sizeof *column);
            kept++;
        }
    }
    packed->features = kept;
    for (int f = kept; f < kept + LANES; f++)
        packed->penalty[f] = INFINITY;
}

/* Moves the rows of the no side before those of the yes side, each in their order. */
static int part(const Rows *rows, Found *found)
{
    int32_t *yes = malloc((size_t)(rows->stop - rows->start) * sizeof *yes);
    int up = 0, middle = rows->start;
    if (!yes)
        return -1;
    for (int i = rows->start; i < rows->stop; i++) {
        int32_t row = rows->order[i];
        int side = rows->bits[(size_t)row * (size_t)rows->features + (size_t)found->feature] != 0;
        found->mass[side] += rows->weights[row];
        if (side)
            yes[up++] = row;
        else
            rows->order[middle++] = row;
    }
    memcpy(rows->order + middle, yes, (size_t)up * sizeof *yes);
    found->middle = middle;
    free(yes);
    return 0;
}

/* The labels of a node: how many there are, where their words begin, the heaviest, and what it gets wrong. */
static double weigh(const Rows *rows, Packed *packed, Found *found)
{
    double mass = 0, heaviest = 0, here = 0;
    packed->labels = packed->words = 0;
    for (int i = rows->start; i < rows->stop; i++) {
        int32_t row = rows->order[i];
        here += rows->weights[row];
        mass += rows->weights[row];
        if (i + 1 < rows->stop && rows->codes[rows->order[i + 1]] == rows->codes[row])
            continue;
        if (here > heaviest) {
            heaviest = here;
            found->label = rows->codes[row];
        }
        packed->total[packed->labels] = (float)here;
        packed->first[packed->labels++] = packed->words;
        packed->words += ((int)here + 63) / 64;
        here = 0;
    }
    packed->first[packed->labels] = packed->words;
    packed->rows = (int)mass;
    return mass - heaviest;
}

/* What a node becomes: a leaf, or a split whose rows are parted; -1 where there is no memory. */
static int grow(const Rows *rows, Found *found)
{
    const size_t features = (size_t)rows->features;
    Packed packed = {0};
    int failed = 0, labels = 1;
    double least = INFINITY;
    for (size_t f = 0; f < features; f++)
        least = rows->penalties[f] < least ? rows->penalties[f] : least;
    for (int i = rows->start + 1; i < rows->stop; i++)
        labels += rows->codes[rows->order[i]] != rows->codes[rows->order[i - 1]];
    size_t counts = (size_t)labels + 1 + features + LANES;
    packed.first = malloc(counts * sizeof *packed.first);
    packed.total = malloc(counts * sizeof *packed.total);
    if (packed.first && packed.total) {
        packed.names = packed.first + labels + 1;
        packed.penalty = packed.total + labels + 1;
        double errors = weigh(rows, &packed, found);
        if (errors > least) {
            uint64_t *words = calloc(features, sizeof *words);
            packed.columns = malloc(features * (size_t)packed.words * sizeof *packed.columns);
            failed = !words || !packed.columns;
            if (!failed) {
                Split split = {-1, 0};
                pack(rows, &packed, words);
                drop_constant(rows, &packed);
                failed = packed.features && best_split(&packed, rows->horizon, rows->old, &split) < 0;
                if (!failed && split.feature >= 0 && (double)split.cost < errors) {
                    found->feature = split.feature;
                    failed = part(rows, found) < 0;
                }
            }
            free(words);
            free(packed.columns);
        }
    } else
        failed = 1;
    free(packed.first);
    free(packed.total);
    return failed ? -1 : 0;
}

enum { BITS, CODES, WEIGHTS, PENALTIES, ORDER, ARGUMENTS };

static const Wanted split_wanted[] = {
    {"bits", 'u', 1, 2, 0},      {"codes", 'i', 8, 1, 0}, {"weights", 'f', 4, 1, 0},
    {"penalties", 'f', 4, 1, 0}, {"order", 'i', 4, 1, 1},
};

static const char *unsound(const Array *a, const Rows *rows)
{
    Py_ssize_t all = a[BITS].shape[0];
    double mass = 0;
    if (a[CODES].length != all || a[WEIGHTS].length != all || a[PENALTIES].length != rows->features)
        return "bits must have a code and a weight for each row, and a penalty for each feature";
    if (rows->start < 0 || rows->start >= rows->stop || rows->stop > a[ORDER].length || rows->features > MOST_MASS)
        return "start and stop must be places of order, with a row between them";
    if (rows->horizon < 1 || rows->horizon > DEEPEST)
        return "horizon must be 1 to 4";
    for (Py_ssize_t f = 0; f < rows->features; f++)
        if (!(rows->penalties[f] >= 0))
            return "penalties must be at least 0";
    for (int i = rows->start; i < rows->stop; i++) {
        int32_t row = rows->order[i];
        if (row < 0 || row >= all || (i > rows->start && rows->codes[row] < rows->codes[rows->order[i - 1]]))
            return "order must hold rows, sorted by their codes";
        float weight = rows->weights[row];
        if (!(weight >= 1 && weight <= MOST_MASS) || weight != floorf(weight))
            return "weights must be whole numbers from 1";
        mass += weight;
    }
    return mass < MOST_MASS ? NULL : "weights must add up to less than 2^24";
}

static PyObject *split_bits(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS];
    Array a[ARGUMENTS];
    Rows rows;
    Found found = {0, -1, 0, {0, 0}};
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOiiii", &given[0], &given[1], &given[2], &given[3], &given[4], &rows.start,
                          &rows.stop, &rows.horizon, &rows.old)
        || arrays_take(given, split_wanted, a, ARGUMENTS) < 0)
        return NULL;
    rows.bits = a[BITS].data;
    rows.codes = a[CODES].data;
    rows.weights = a[WEIGHTS].data;
    rows.penalties = a[PENALTIES].data;
    rows.order = a[ORDER].data;
    rows.features = a[BITS].shape[1];
    const char *problem;
    int failed = 0;
    Py_BEGIN_ALLOW_THREADS
    problem = unsound(a, &rows);
    if (!problem)
        failed = grow(&rows, &found);
    Py_END_ALLOW_THREADS
    arrays_release(a, ARGUMENTS);
    if (problem)
        PyErr_SetString(PyExc_ValueError, problem);
    else if (failed)
        PyErr_NoMemory();
    if (problem || failed)
        return NULL;
    return Py_BuildValue("Liidd", (long long)found.label, found.feature, found.middle, found.mass[0], found.mass[1]);
}

PyMethodDef bits_methods[] = {
    {"split_bits", split_bits, METH_VARARGS,
     "split_bits(bits, codes, weights, penalties, order, start, stop, horizon, old)\n"
     "The label of a node, its feature (-1: a leaf), where its yes side begins, and what each side weighs."},
    {NULL, NULL, 0, NULL},
};
