/* Sending a few rows of bits down a tree: many rows go down as sets, 64 to a word, but those of a test are few. */

#include "kernels.h"

enum { FEATURE, CHILD, CODE, OUT, ARGUMENTS };

static const Wanted steps_wanted[] = {
    {"feature", 'i', 4, 1, 0}, {"child", 'i', 4, 1, 0}, {"code", 'i', 4, 1, 0}, {"out", 'i', 8, 1, 1},
};

/* Children must be later than their parents, so that every walk ends; a leaf leads to itself. */
static const char *unsound(const Array *a, const Py_buffer *rows)
{
    Py_ssize_t nodes = a[FEATURE].length;
    const int32_t *feature = a[FEATURE].data, *child = a[CHILD].data;
    if (rows->ndim != 2 || rows->itemsize != 1 || a[OUT].length != rows->shape[0])
        return "rows must be a 2-D array of bytes, and out must have one entry a row";
    if (nodes < 1 || a[CHILD].length != 2 * nodes || a[CODE].length != nodes)
        return "a node must have a feature, two children and a code";
    for (Py_ssize_t v = 0; v < nodes; v++) {
        int leaf = child[2 * v] == v && child[2 * v + 1] == v;
        int inner = child[2 * v] > v && child[2 * v] < nodes && child[2 * v + 1] > v && child[2 * v + 1] < nodes
                    && feature[v] >= 0 && feature[v] < rows->shape[1];
        if (!leaf && !inner)
            return "a node must ask a feature of the rows, and lead to later nodes; a leaf leads to itself";
    }
    return NULL;
}

static PyObject *walk_bits(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS], *rows_given;
    Array a[ARGUMENTS];
    Py_buffer rows;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOO", &given[FEATURE], &given[CHILD], &given[CODE], &rows_given, &given[OUT])
        || arrays_take(given, steps_wanted, a, ARGUMENTS) < 0)
        return NULL;
    if (PyObject_GetBuffer(rows_given, &rows, PyBUF_STRIDES) < 0) {
        arrays_release(a, ARGUMENTS);
        return NULL;
    }
    const char *problem = unsound(a, &rows);
    if (!problem) {
        const int32_t *feature = a[FEATURE].data, *child = a[CHILD].data, *code = a[CODE].data;
        int64_t *out = a[OUT].data;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; i < rows.shape[0]; i++) {
            const char *row = (const char *)rows.buf + i * rows.strides[0];
            int32_t node = 0;
            while (child[2 * node] != node)
                node = child[2 * node + (row[feature[node] * rows.strides[1]] != 0)];
            out[i] = code[node];
        }
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&rows);
    arrays_release(a, ARGUMENTS);
    if (problem) {
        PyErr_SetString(PyExc_ValueError, problem);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef steps_methods[] = {
    {"walk_bits", walk_bits, METH_VARARGS,
     "walk_bits(feature, child, code, rows, out)\nThe code of the leaf that every row of bits reaches, written to out."},
    {NULL, NULL, 0, NULL},
};
