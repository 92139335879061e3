/* Numbers as bins: the rank of each value among the different ones of its column. The twin is binned in
   fidelitree.search.local.coded. */

#include "kernels.h"
#include <stdlib.h>
#include <string.h>

enum { FEATURES, BINS, VALUES, COUNTS, ARGUMENTS };
enum { MOST_ROWS = 1 << 16 };

static const Wanted columns_wanted[] = {
    {"features", 'i', 4, 1, 0}, {"bins", 'u', 2, 2, 1}, {"values", 'f', 8, 2, 1}, {"counts", 'i', 4, 1, 1},
};

/* A number as an integer that has its place in the order. */
typedef struct {
    uint64_t key;
    int32_t row;
} Entry;

static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ (bits >> 63 ? UINT64_MAX : UINT64_C(1) << 63);
}

static double value_of(uint64_t key)
{
    const uint64_t bits = key ^ (key >> 63 ? UINT64_C(1) << 63 : UINT64_MAX);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Sorted byte by byte, the last one first, which takes no branch that depends on a value; where the entries are then. */
static Entry *sorted(Entry *entries, Entry *other, Py_ssize_t count)
{
    int32_t counts[8][256] = {{0}};
    for (Py_ssize_t i = 0; i < count; i++)
        for (int byte = 0; byte < 8; byte++)
            counts[byte][entries[i].key >> 8 * byte & 255]++;
    for (int byte = 0; byte < 8; byte++) {
        int32_t *places = counts[byte], sum = 0;
        if (places[entries[0].key >> 8 * byte & 255] == count)
            continue; /* all alike */
        for (int k = 0; k < 256; k++) {
            const int32_t here = places[k];
            places[k] = sum;
            sum += here;
        }
        for (Py_ssize_t i = 0; i < count; i++)
            other[places[entries[i].key >> 8 * byte & 255]++] = entries[i];
        Entry *swapped = entries;
        entries = other, other = swapped;
    }
    return entries;
}

static const char *unsound(const Py_buffer *inner, const Array *a)
{
    const int32_t *features = a[FEATURES].data;
    if (inner->ndim != 2 || inner->itemsize != (Py_ssize_t)sizeof(double) || inner->format[0] != 'd')
        return "inner must be a 2-D array of doubles";
    if (inner->shape[0] < 1 || inner->shape[0] > MOST_ROWS)
        return "there must be 1 to 65536 rows";
    if (a[BINS].shape[1] != inner->shape[0] || a[VALUES].shape[1] != inner->shape[0]
        || a[VALUES].shape[0] != a[FEATURES].length || a[COUNTS].length != a[FEATURES].length)
        return "bins and values must have one entry a row, values and counts one line for each of features";
    for (Py_ssize_t k = 0; k < a[FEATURES].length; k++)
        if (features[k] < 0 || features[k] >= inner->shape[1] || features[k] >= a[BINS].shape[0])
            return "features must be columns of inner and lines of bins";
    return NULL;
}

/* One column: bins of its line, and its different values in order; how many these are. */
static int32_t ranked(const Py_buffer *inner, int32_t feature, Entry *room, uint16_t *bins, double *values)
{
    const Py_ssize_t rows = inner->shape[0];
    const char *column = (const char *)inner->buf + feature * inner->strides[1];
    int32_t count = 0;
    for (Py_ssize_t row = 0; row < rows; row++) {
        double value;
        memcpy(&value, column + row * inner->strides[0], sizeof value);
        room[row] = (Entry){key_of(value + 0.0), (int32_t)row}; /* no -0 */
    }
    const Entry *entries = sorted(room, room + rows, rows);
    for (Py_ssize_t i = 0; i < rows; i++) {
        count += !i || entries[i].key != entries[i - 1].key;
        values[count - 1] = value_of(entries[i].key);
        bins[entries[i].row] = (uint16_t)(count - 1);
    }
    return count;
}

static PyObject *bin_columns(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS], *inner_given;
    Array a[ARGUMENTS];
    Py_buffer inner;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOO", &inner_given, &given[FEATURES], &given[BINS], &given[VALUES], &given[COUNTS])
        || arrays_take(given, columns_wanted, a, ARGUMENTS) < 0)
        return NULL;
    if (PyObject_GetBuffer(inner_given, &inner, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        arrays_release(a, ARGUMENTS);
        return NULL;
    }
    const char *problem = unsound(&inner, a);
    Entry *room = problem ? NULL : malloc(2 * (size_t)inner.shape[0] * sizeof *room);
    if (problem)
        PyErr_SetString(PyExc_ValueError, problem);
    else if (!room)
        PyErr_NoMemory();
    else {
        const Py_ssize_t rows = inner.shape[0];
        const int32_t *features = a[FEATURES].data;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t k = 0; k < a[FEATURES].length; k++)
            ((int32_t *)a[COUNTS].data)[k] = ranked(&inner, features[k], room, (uint16_t *)a[BINS].data + features[k] * rows,
                                                    (double *)a[VALUES].data + k * rows);
        Py_END_ALLOW_THREADS
    }
    free(room);
    PyBuffer_Release(&inner);
    arrays_release(a, ARGUMENTS);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef columns_methods[] = {
    {"bin_columns", bin_columns, METH_VARARGS,
     "bin_columns(inner, features, bins, values, counts)\nOf each of some features the rank of every row's number, "
     "written to its line of bins; its different numbers, increasing, and how many these are."},
    {NULL, NULL, 0, NULL},
};
