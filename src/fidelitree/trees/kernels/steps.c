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

/* A tree of tuples, read once: the feature of each node, or -1; its yes side (the no side comes next), or its code. */
typedef struct {
    struct { Py_ssize_t feature; int64_t next; } *nodes;
    Py_ssize_t length, room;
} Nested;

static int read_nested(Nested *tree, PyObject *part, Py_ssize_t features)
{
    if (tree->length == tree->room) {
        tree->room = 2 * tree->room + 64;
        void *more = PyMem_Realloc(tree->nodes, (size_t)tree->room * sizeof *tree->nodes);
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        tree->nodes = more;
    }
    Py_ssize_t node = tree->length++;
    tree->nodes[node].feature = -1;
    if (!PyTuple_Check(part)) {
        tree->nodes[node].next = PyLong_AsLongLong(part);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (PyTuple_Size(part) != 3) {
        PyErr_SetString(PyExc_ValueError, "a split must be a test and two sides");
        return -1;
    }
    PyObject *name = PyObject_GetAttrString(PyTuple_GetItem(part, 0), "feature");
    Py_ssize_t feature = name ? PyLong_AsSsize_t(name) : -1;
    Py_XDECREF(name);
    if (PyErr_Occurred())
        return -1;
    if (feature < 0 || feature >= features) {
        PyErr_SetString(PyExc_ValueError, "a test must ask a feature of the rows");
        return -1;
    }
    if (Py_EnterRecursiveCall(" in a tree"))
        return -1;
    int failed = read_nested(tree, PyTuple_GetItem(part, 1), features);
    tree->nodes[node].feature = feature;
    tree->nodes[node].next = tree->length;
    failed = failed || read_nested(tree, PyTuple_GetItem(part, 2), features);
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
}

static PyObject *walk_nested(PyObject *module, PyObject *args)
{
    static const Wanted wanted = {"out", 'i', 8, 1, 1};
    PyObject *tuple, *rows_given, *out_given;
    Nested tree = {NULL, 0, 0};
    Array out;
    Py_buffer rows;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOO", &tuple, &rows_given, &out_given) || arrays_take(&out_given, &wanted, &out, 1) < 0)
        return NULL;
    if (PyObject_GetBuffer(rows_given, &rows, PyBUF_STRIDES) < 0) {
        arrays_release(&out, 1);
        return NULL;
    }
    if (rows.ndim != 2 || rows.itemsize != 1 || out.length != rows.shape[0])
        PyErr_SetString(PyExc_ValueError, "rows must be a 2-D array of bytes, and out must have one entry a row");
    else if (read_nested(&tree, tuple, rows.shape[1]) == 0)
        for (Py_ssize_t i = 0; i < rows.shape[0]; i++) {
            const char *row = (const char *)rows.buf + i * rows.strides[0];
            Py_ssize_t node = 0;
            while (tree.nodes[node].feature >= 0)
                node = row[tree.nodes[node].feature * rows.strides[1]] ? tree.nodes[node].next : node + 1;
            ((int64_t *)out.data)[i] = tree.nodes[node].next;
        }
    PyMem_Free(tree.nodes);
    PyBuffer_Release(&rows);
    arrays_release(&out, 1);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef steps_methods[] = {
    {"walk_bits", walk_bits, METH_VARARGS,
     "walk_bits(feature, child, code, rows, out)\nThe code of the leaf that every row of bits reaches, written to out."},
    {"walk_nested", walk_nested, METH_VARARGS,
     "walk_nested(tree, rows, out)\nThe same for a tree of tuples (test, no, yes), whose leaves are codes."},
    {NULL, NULL, 0, NULL},
};
