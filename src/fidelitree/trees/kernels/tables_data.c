/* Rows of bins for a search: checked once, then never changed. */

#include "tables.h"
#include <stdlib.h>

static const Wanted wanted[] = {
    {"bins", 'u', 2, 2, 0},   {"codes", 'i', 4, 1, 0},  {"sizes", 'i', 4, 1, 0}, {"ordered", 'b', 1, 1, 0},
    {"chosen", 'i', 4, 1, 0}, {"xlogx", 'f', 8, 1, 0},
};

static void forget(Table *table)
{
    free(table->first_group);
    free(table->first_bin);
    free(table->column_of);
    free(table->under);
    free(table->groups);
    free(table->keys);
    free(table->ones);
    free(table);
}

static void destroy(PyObject *capsule)
{
    Table *table = PyCapsule_GetPointer(capsule, "fidelitree.table");
    arrays_release(table->arrays, TABLE_ARRAYS);
    forget(table);
}

const Table *table_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, "fidelitree.table");
}

static const char *unsound_shapes(const Table *t, const Array *a)
{
    if (a[BINS].shape[1] < 1 || a[BINS].shape[1] >= 1 << 26 || a[BINS].shape[0] < 1 || a[BINS].shape[0] >= 1 << 26)
        return "there must be a row and a feature, and fewer than 2^26";
    if (a[CODES].length != t->rows || a[SIZES].length != t->features || a[ORDERED].length != t->features)
        return "codes must have one entry a row, sizes and ordered one a feature";
    if (a[XLOGX].length != (Py_ssize_t)t->rows + 1 || t->classes < 1 || a[CHOSEN].length > t->features)
        return "xlogx must have one entry more than there are rows; there must be a class";
    return NULL;
}

static const char *unsound_rows(const Table *t)
{
    for (int32_t row = 0; row < t->rows; row++)
        if (t->codes[row] < 0 || t->codes[row] >= t->classes)
            return "codes must be below the number of classes";
    for (int32_t f = 0; f < t->features; f++) {
        if (t->sizes[f] < 1 || t->sizes[f] > 1 << 16)
            return "a feature must have 1 to 65536 bins";
        const uint16_t *column = t->bins + (int64_t)f * t->rows;
        int32_t largest = 0;
        for (int32_t row = 0; row < t->rows; row++)
            largest = column[row] > largest ? column[row] : largest;
        if (largest >= t->sizes[f])
            return "bins must be below the sizes of their features";
    }
    return NULL;
}

/* Chosen features, whose bins are counted. */
static const char *unsound_columns(const Table *t, int64_t *bins)
{
    for (int32_t c = 0; c < t->columns; c++) {
        int32_t f = t->chosen[c];
        if (f < 0 || f >= t->features || (c && t->chosen[c - 1] >= f))
            return "chosen must be features in increasing order";
        *bins += t->sizes[f];
    }
    int small = *bins < INT32_MAX && t->classes * (*bins + 1) < INT32_MAX;
    return small ? NULL : "there are too many bins and classes";
}

/* Where each column's part begins, how many rows are under each bin, and the groups: neighbouring bins of about equal
   weight where a feature has more bins than ``most``, else the bins themselves. */
static void fill_groups(Table *t, int32_t most)
{
    for (int32_t c = 0; c < t->columns; c++) {
        int32_t f = t->chosen[c], first = t->first_bin[c], size = t->sizes[f], *under = t->under + first;
        const uint16_t *column = t->bins + (int64_t)f * t->rows;
        const int apart = size <= most || !t->ordered[f];
        const double share = (double)most / t->rows;
        uint16_t *groups = t->groups + first;
        for (int32_t row = 0; row < t->rows; row++)
            under[column[row]]++;
        for (int32_t bin = 1, last = 0; bin < size; bin++) {
            int32_t place = (int32_t)(under[bin - 1] * share); /* of the rows before the bin, which are added up */
            groups[bin] = (uint16_t)(groups[bin - 1] + (apart || place > last));
            last = place;
            under[bin] += under[bin - 1];
        }
        t->column_of[f] = c;
        t->first_bin[c + 1] = first + size;
        t->first_group[c + 1] = t->first_group[c] + groups[size - 1] + 1;
    }
    t->width = t->first_group[t->columns];
}

/* The group of each value; rows lie side by side in the one array and far apart in the other, so some at a time. */
static void fill_keys(Table *t)
{
    for (int32_t begin = 0; begin < t->rows; begin += BLOCK) {
        const int32_t end = begin + BLOCK < t->rows ? begin + BLOCK : t->rows;
        for (int32_t c = 0; c < t->columns; c++) {
            const uint16_t *column = t->bins + (int64_t)t->chosen[c] * t->rows, *groups = t->groups + t->first_bin[c];
            for (int32_t row = begin; row < end; row++)
                t->keys[(int64_t)row * t->columns + c] = groups[column[row]];
        }
    }
}

static int fill(Table *t, int64_t bins, int32_t most)
{
    t->first_group = calloc((size_t)t->columns + 1, sizeof *t->first_group);
    t->first_bin = calloc((size_t)t->columns + 1, sizeof *t->first_bin);
    t->column_of = malloc((size_t)t->features * sizeof *t->column_of);
    t->under = calloc((size_t)bins + 1, sizeof *t->under);
    t->groups = calloc((size_t)bins + 1, sizeof *t->groups);
    t->keys = malloc((size_t)t->rows * ((size_t)t->columns + 1) * sizeof *t->keys);
    if (!t->first_group || !t->first_bin || !t->column_of || !t->under || !t->groups || !t->keys)
        return -1;
    int32_t widest = 1;
    for (int32_t f = 0; f < t->features; f++) {
        t->column_of[f] = -1;
        widest = t->sizes[f] > widest ? t->sizes[f] : widest;
    }
    t->words = (widest + 63) / 64;
    fill_groups(t, most);
    fill_keys(t);
    return 0;
}

/* Where every column has two groups in order, as bits have, rows are counted 64 at a time. */
static int fill_ones(Table *t)
{
    for (int32_t c = 0; c < t->columns; c++)
        if (t->first_group[c + 1] - t->first_group[c] != 2 || !t->ordered[t->chosen[c]])
            return 0;
    t->lines = (t->rows + 63) / 64;
    t->ones = calloc((size_t)t->columns * (size_t)t->lines + 1, sizeof *t->ones);
    if (!t->ones)
        return -1;
    for (int32_t c = 0; c < t->columns; c++)
        for (int32_t row = 0; row < t->rows; row++) {
            uint64_t bit = t->keys[(int64_t)row * t->columns + c];
            t->ones[(int64_t)c * t->lines + (row >> 6)] |= bit << (row & 63);
        }
    return 0;
}

PyObject *table_new(PyObject *module, PyObject *args)
{
    PyObject *given[TABLE_ARRAYS];
    int classes, most, failed = 0;
    int64_t bins = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOii", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5], &classes,
                          &most))
        return NULL;
    Table *t = calloc(1, sizeof *t);
    if (!t)
        return PyErr_NoMemory();
    Array *a = t->arrays;
    if (arrays_take(given, wanted, a, TABLE_ARRAYS) < 0) {
        free(t);
        return NULL;
    }
    t->features = (int32_t)a[BINS].shape[0], t->rows = (int32_t)a[BINS].shape[1], t->classes = classes;
    t->bins = a[BINS].data, t->codes = a[CODES].data, t->sizes = a[SIZES].data, t->ordered = a[ORDERED].data;
    t->chosen = a[CHOSEN].data, t->xlogx = a[XLOGX].data;
    t->columns = (int32_t)a[CHOSEN].length;
    const char *problem = most < 1 ? "there must be a group" : unsound_shapes(t, a);
    if (!problem) {
        Py_BEGIN_ALLOW_THREADS
        problem = unsound_rows(t);
        problem = problem ? problem : unsound_columns(t, &bins);
        failed = problem ? 0 : fill(t, bins, most) || fill_ones(t);
        Py_END_ALLOW_THREADS
    }
    PyObject *capsule = NULL;
    if (problem)
        PyErr_SetString(PyExc_ValueError, problem);
    else if (failed)
        PyErr_NoMemory();
    else
        capsule = PyCapsule_New(t, "fidelitree.table", destroy);
    if (!capsule) {
        arrays_release(a, TABLE_ARRAYS);
        forget(t);
    }
    return capsule;
}
