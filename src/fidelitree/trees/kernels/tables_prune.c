/* All best prunings of a tree: the twin of fidelitree.search.local.by_leaves. */

#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double *both, *errors, *missed; /* of the prunings of one node, by leaves */
    int32_t *share, leaves;
} Curve;

/* What a leaf at each node gets wrong among the held-out rows; leaves follow from below. */
static void misses(Search *s, int32_t node, const int32_t *code, double *missed)
{
    Node here = s->arena.nodes[node];
    int32_t wrong = 0;
    for (int32_t i = here.begin; i < here.end; i++)
        wrong += s->table->codes[s->rows[i]] != code[node];
    missed[node] = wrong;
    if (here.test.feature >= 0) {
        misses(s, here.no, code, missed);
        misses(s, here.yes, code, missed);
    }
}

static void merge(Curve *out, const Curve *no, const Curve *yes)
{
    const Curve *few = yes->leaves < no->leaves ? yes : no, *many = yes->leaves < no->leaves ? no : yes;
    for (int32_t j = 1; j < out->leaves; j++)
        out->both[j] = INFINITY;
    for (int32_t i = 0; i < few->leaves; i++)
        for (int32_t j = 0; j < many->leaves; j++) {
            double sum = few->both[i] + many->both[j];
            if (sum < out->both[i + j + 1]) {
                out->both[i + j + 1] = sum;
                out->share[i + j + 1] = i + 1;
            }
        }
    for (int32_t j = 1; j < out->leaves; j++) {
        out->errors[j] = few->errors[out->share[j] - 1] + many->errors[j - out->share[j]];
        out->missed[j] = few->missed[out->share[j] - 1] + many->missed[j - out->share[j]];
    }
}

enum { FEATURE, CUT, YES, SET, WORDS, CODE, ERRORS, ARGUMENTS };

static const Wanted wanted[] = {
    {"feature", 'i', 4, 1, 0}, {"cut", 'i', 4, 1, 0},  {"yes", 'i', 4, 1, 0},    {"set", 'i', 4, 1, 0},
    {"sets", 'u', 8, 2, 0},    {"code", 'i', 4, 1, 0}, {"errors", 'f', 8, 1, 0},
};

/* Curves of all nodes of the tree at node 0, those of the leaves first; errors and misses are those of leaves. */
static Curve *curves(Search *s, const double *errors, const double *missed, size_t *total)
{
    const int32_t nodes = s->arena.length;
    *total = 0;
    for (int32_t v = 0; v < nodes; v++)
        *total += (size_t)s->arena.nodes[v].leaves;
    const size_t first = (size_t)nodes * sizeof(Curve);
    char *memory = s->curves = search_room(s, NULL, first + *total * 28 + 64, 1);
    Curve *curve = (Curve *)memory;
    double *next = (double *)(memory + first);
    int32_t *share = (int32_t *)(next + 3 * *total);
    memset(share, 0, *total * sizeof *share);
    for (int32_t v = 0; v < nodes; v++) {
        int32_t leaves = s->arena.nodes[v].leaves;
        curve[v] = (Curve){next, next + *total, next + 2 * *total, share, leaves};
        next += leaves, share += leaves;
        for (int32_t j = 0; j < leaves; j++) {
            curve[v].errors[j] = errors[v];
            curve[v].missed[j] = missed[v];
            curve[v].both[j] = errors[v] + missed[v];
        }
    }
    for (int32_t v = nodes; v--;)
        if (s->arena.nodes[v].test.feature >= 0) {
            search_work(s, (int64_t)curve[v].leaves * curve[v].leaves / 2);
            merge(&curve[v], &curve[s->arena.nodes[v].no], &curve[s->arena.nodes[v].yes]);
        }
    return curve;
}

/* Bytes of shares, errors, missed and both. */
static PyObject *pruned(Search *s, const Array *a)
{
    size_t total;
    if (setjmp(s->out))
        return NULL;
    s->unlocked = PyEval_SaveThread();
    for (int32_t row = 0; row < s->table->rows; row++)
        s->rows[row] = row;
    adopt(s, read_tree(s, a));
    double *missed = s->keep = search_room(s, NULL, (size_t)s->arena.length, sizeof *missed);
    arrange(s, 0, s->rows, 0, s->table->rows);
    misses(s, 0, a[CODE].data, missed);
    const Curve *root = curves(s, a[ERRORS].data, missed, &total);
    PyEval_RestoreThread(s->unlocked);
    Py_ssize_t line = root->leaves * (Py_ssize_t)sizeof(double);
    return Py_BuildValue("(y#y#y#y#)", (char *)root->share, (Py_ssize_t)(total * sizeof *root->share),
                         (char *)root->errors, line, (char *)root->missed, line, (char *)root->both, line);
}

PyObject *table_prune(PyObject *module, PyObject *args)
{
    PyObject *capsule, *watch, *given[ARGUMENTS], *found = NULL;
    Array a[ARGUMENTS];
    Search s;
    (void)module;
    if (!PyArg_ParseTuple(args, "O(OOOOO)OOO", &capsule, &given[0], &given[1], &given[2], &given[3], &given[4],
                          &given[5], &given[6], &watch))
        return NULL;
    const Table *held = table_of(capsule);
    if (!held || arrays_take(given, wanted, a, ARGUMENTS) < 0)
        return NULL;
    if (a[CODE].length != a[FEATURE].length || a[ERRORS].length != a[FEATURE].length)
        PyErr_SetString(PyExc_ValueError, "code and errors must have one entry a node");
    else if (search_open(&s, held, watch) == 0) {
        found = pruned(&s, a);
        search_close(&s);
    }
    arrays_release(a, ARGUMENTS);
    return found;
}
