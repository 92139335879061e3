/* Trees over bits as tuples (test, no, yes): a test asks whether a feature is 1, where here bins up to 0 pass. */

#include "tables.h"
#include <string.h>

typedef struct {
    const Table *table;
    int32_t *rows; /* feature, cut, yes and set of each node */
    int32_t length, room;
} Reading;

enum { MOST_NODES = 1 << 22 };

/* The column of a test's feature, or -1; -2 with an exception where it is none. */
static int32_t column_of_test(const Table *t, PyObject *test)
{
    PyObject *name = test ? PyObject_GetAttrString(test, "feature") : NULL;
    Py_ssize_t feature = name ? PyLong_AsSsize_t(name) : -1;
    Py_XDECREF(name);
    if (PyErr_Occurred())
        return -2;
    int32_t low = 0, high = t->columns;
    while (low < high) {
        int32_t half = low + (high - low) / 2;
        if (t->names[half] < feature)
            low = half + 1;
        else
            high = half;
    }
    return low < t->columns && t->names[low] == feature ? low : -1;
}

/* Nodes in preorder, the side of ones first; what is below a feature that is no column is what its zeros get. */
static int read_part(Reading *r, PyObject *part)
{
    int32_t column = -1;
    while (PyTuple_Check(part)) {
        if (PyTuple_Size(part) != 3) {
            PyErr_SetString(PyExc_ValueError, "a split must be a test and two sides");
            return -1;
        }
        if ((column = column_of_test(r->table, PyTuple_GetItem(part, 0))) != -1)
            break;
        part = PyTuple_GetItem(part, 1);
    }
    if (column == -2 || r->length == MOST_NODES) {
        if (column != -2)
            PyErr_SetString(PyExc_ValueError, "a tree must have fewer than 2^22 nodes");
        return -1;
    }
    if (r->length == r->room) {
        r->room = 2 * r->room + 64;
        int32_t *more = PyMem_Realloc(r->rows, 4 * (size_t)r->room * sizeof *more);
        if (!more) {
            PyErr_NoMemory();
            return -1;
        }
        r->rows = more;
    }
    const int32_t here = r->length++, leaf[4] = {-1, -1, -1, -1};
    memcpy(r->rows + 4 * here, leaf, sizeof leaf);
    if (!PyTuple_Check(part))
        return 0;
    if (Py_EnterRecursiveCall(" in a tree"))
        return -1;
    int failed = read_part(r, PyTuple_GetItem(part, 2));
    r->rows[4 * here] = column, r->rows[4 * here + 1] = 0, r->rows[4 * here + 2] = r->length;
    failed = failed || read_part(r, PyTuple_GetItem(part, 1));
    Py_LeaveRecursiveCall();
    return failed ? -1 : 0;
}

/* The arrays of a tree, as those of a caller would be; the first one's data are to be freed. */
int take_nested(const Table *table, PyObject *tuple, Array *arrays)
{
    Reading r = {table, NULL, 0, 0};
    int32_t *columns = NULL;
    if (!table->names)
        PyErr_SetString(PyExc_ValueError, "a table must be of bits for trees of tuples");
    else if (read_part(&r, tuple) == 0 && !(columns = PyMem_Malloc(4 * (size_t)r.length * sizeof *columns)))
        PyErr_NoMemory();
    for (int i = 0; columns && i < 4; i++) {
        arrays[i].data = columns + (size_t)i * (size_t)r.length;
        arrays[i].length = arrays[i].shape[0] = r.length;
        for (int32_t v = 0; v < r.length; v++)
            ((int32_t *)arrays[i].data)[v] = r.rows[4 * v + i];
    }
    arrays[4].shape[1] = table->words;
    PyMem_Free(r.rows);
    return columns ? 0 : -1;
}

/* A split whose sides are leaves of one label is that leaf. */
static PyObject *written(Search *s, int32_t node, PyObject *is_one)
{
    const Node here = s->arena.nodes[node];
    if (here.test.feature < 0) {
        label(s, node);
        return PyLong_FromLong(s->arena.nodes[node].code);
    }
    PyObject *no = written(s, here.yes, is_one), *yes = no ? written(s, here.no, is_one) : NULL, *found = NULL;
    if (yes && !PyTuple_Check(no) && !PyTuple_Check(yes) && PyLong_AsLong(no) == PyLong_AsLong(yes)) {
        Py_DECREF(yes);
        return no;
    }
    PyObject *test = yes ? PyObject_CallFunction(is_one, "i", s->table->names[here.test.feature]) : NULL;
    if (test)
        found = PyTuple_Pack(3, test, no, yes);
    Py_XDECREF(test);
    Py_XDECREF(no);
    Py_XDECREF(yes);
    return found;
}

PyObject *write_nested(Search *s, int32_t root, PyObject *is_one)
{
    PyEval_RestoreThread(s->unlocked);
    return written(s, root, is_one);
}
