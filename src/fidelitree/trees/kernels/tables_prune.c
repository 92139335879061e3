/* All best prunings of a tree: the twin of fidelitree.search.local.by_leaves. */

#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *errors; /* of the prunings of one node, by leaves */
    int32_t *share, leaves;
} Curve;

static void merge(Curve *out, const Curve *no, const Curve *yes)
{
    const Curve *few = yes->leaves < no->leaves ? yes : no, *many = yes->leaves < no->leaves ? no : yes;
    for (int32_t j = 1; j < out->leaves; j++)
        out->errors[j] = INFINITY;
    for (int32_t i = 0; i < few->leaves; i++)
        for (int32_t j = 0; j < many->leaves; j++) {
            double sum = few->errors[i] + many->errors[j];
            if (sum < out->errors[i + j + 1]) {
                out->errors[i + j + 1] = sum;
                out->share[i + j + 1] = i + 1;
            }
        }
}

enum { FEATURE, CUT, YES, SET, WORDS, ERRORS, ARGUMENTS };

static const Wanted wanted[] = {
    {"feature", 'i', 4, 1, 0}, {"cut", 'i', 4, 1, 0},  {"yes", 'i', 4, 1, 0},
    {"set", 'i', 4, 1, 0},     {"sets", 'u', 8, 2, 0}, {"errors", 'f', 8, 1, 0},
};

/* Curves of all nodes of the tree at node 0, those of the leaves first; errors are those of leaves. */
static Curve *curves(Search *s, const double *errors, size_t *total)
{
    const int32_t nodes = s->arena.length;
    *total = 0;
    for (int32_t v = 0; v < nodes; v++)
        *total += (size_t)s->arena.nodes[v].leaves;
    const size_t first = (size_t)nodes * sizeof(Curve);
    char *memory = s->curves = search_room(s, NULL, first + *total * (sizeof(double) + sizeof(int32_t)), 1);
    Curve *curve = (Curve *)memory;
    double *next = (double *)(memory + first);
    int32_t *share = (int32_t *)(next + *total);
    memset(share, 0, *total * sizeof *share);
    for (int32_t v = 0; v < nodes; v++) {
        int32_t leaves = s->arena.nodes[v].leaves;
        curve[v] = (Curve){next, share, leaves};
        next += leaves, share += leaves;
        curve[v].errors[0] = errors[v];
    }
    for (int32_t v = nodes; v--;)
        if (s->arena.nodes[v].test.feature >= 0) {
            search_work(s, (int64_t)curve[v].leaves * curve[v].leaves / 2);
            merge(&curve[v], &curve[s->arena.nodes[v].no], &curve[s->arena.nodes[v].yes]);
        }
    return curve;
}

/* Bytes of shares and errors. */
static PyObject *pruned(Search *s, const Array *a)
{
    size_t total;
    if (setjmp(s->out))
        return NULL;
    s->unlocked = PyEval_SaveThread();
    adopt(s, read_tree(s, a));
    const Curve *root = curves(s, a[ERRORS].data, &total);
    PyEval_RestoreThread(s->unlocked);
    return Py_BuildValue("(y#y#)", (char *)root->share, (Py_ssize_t)(total * sizeof *root->share),
                         (char *)root->errors, root->leaves * (Py_ssize_t)sizeof(double));
}

PyObject *table_prune(PyObject *module, PyObject *args)
{
    PyObject *capsule, *watch, *given[ARGUMENTS], *found = NULL;
    Array a[ARGUMENTS];
    Search s;
    (void)module;
    if (!PyArg_ParseTuple(args, "O(OOOOO)OO", &capsule, &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &watch))
        return NULL;
    const Table *table = table_of(capsule);
    if (!table || arrays_take(given, wanted, a, ARGUMENTS) < 0)
        return NULL;
    if (a[ERRORS].length != a[FEATURE].length)
        PyErr_SetString(PyExc_ValueError, "errors must have one entry a node");
    else if (search_open(&s, table, watch) == 0) {
        found = pruned(&s, a);
        search_close(&s);
    }
    arrays_release(a, ARGUMENTS);
    return found;
}
