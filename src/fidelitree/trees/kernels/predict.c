/* Sending rows of numbers down a tree.

   Nodes are in any order with siblings side by side: child[v] is where an input goes whose value exceeds the cut,
   child[v] + 1 where it does not. A leaf has a NaN for its cut, to which nothing compares, and leads to itself.
   So no branch depends on the data: sixteen rows go down in step, and the processor overlaps their loads.
   Where values of one feature lie side by side, a block of rows is parted down the tree instead. */

#include "kernels.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 16, BLOCK = 32768, LOOK = 4 };

typedef struct {
    double cut;
    int32_t feature, child;
} Walked;

/* Instead of where a set begins: a threshold, which a missing number exceeds; or one that it does not exceed. */
enum { THRESHOLD = -1, OR_MISSING = -2 };

/* Sets of categories: where a node's set begins among the members, or one of these; how many values the feature has. */
typedef struct {
    const int32_t *start, *width;
    const uint8_t *member;
} Sets;

typedef struct {
    const Walked *nodes;
    const int64_t *value;
    Sets sets;
    const double *data;
    Py_ssize_t rows, across, along; /* from a feature to the next, from a row to the next */
    int64_t *out;
    int32_t features;
    int depth, checked; /* whether numbers may be missing, which ends the walk */
} Walk;

/* Whether a number is missing; written so that a compiler makes a vector of it. */
static int any_missing(const double *values, Py_ssize_t count)
{
    Py_ssize_t i = 0;
    for (int found = 0; i < count; found = 0) {
        Py_ssize_t stop = count - i < 256 ? count : i + 256;
        for (; i < stop; i++)
            found |= values[i] != values[i];
        if (found)
            return 1;
    }
    return 0;
}

static inline int is_leaf(const Walked *nodes, int32_t node)
{
    return nodes[node].child == node;
}

static inline int below(const Walk *walk, int32_t node, double x)
{
    int32_t start = walk->sets.start[node];
    if (start == OR_MISSING)
        return !(x > walk->nodes[node].cut);
    if (start < 0)
        return x <= walk->nodes[node].cut;
    return x >= 0 && x < walk->sets.width[node] && walk->sets.member[start + (int32_t)x];
}

static int in_step(const Walk *walk, int any_set)
{
    const Walked *nodes = walk->nodes;
    const Py_ssize_t across = walk->across, along = walk->along;
    for (Py_ssize_t first = 0; first < walk->rows; first += STEP) {
        int32_t node[STEP] = {0};
        const double *row[STEP];
        Py_ssize_t here = walk->rows - first < STEP ? walk->rows - first : STEP;
        if (walk->checked && across == 1 && any_missing(walk->data + first * along, here * along))
            return -1;
        for (int j = 0; j < STEP; j++) /* the last few rows are filled up with the last one */
            row[j] = walk->data + (first + (j < here ? j : here - 1)) * along;
        for (int level = 0; level < walk->depth; level += LOOK) {
            int32_t moved = 0;
            for (int step = 0; step < LOOK; step++)
                for (int j = 0; j < STEP; j++) {
                    const Walked at = nodes[node[j]];
                    double x = row[j][at.feature * across];
                    int32_t next = at.child + (any_set ? below(walk, node[j], x) : x <= at.cut);
                    moved |= next ^ node[j];
                    node[j] = next;
                }
            if (!moved)
                break;
        }
        for (int j = 0; j < here; j++)
            walk->out[first + j] = walk->value[node[j]];
    }
    return 0;
}

/* Parts the rows of a block, of which ``count`` begin at ``here``: those above the cut first, each side in its order. */
static Py_ssize_t part(const Walk *walk, int32_t node, const double *data, uint16_t *here, Py_ssize_t count,
                       uint16_t *spare)
{
    const double *column = data + walk->nodes[node].feature * walk->across;
    const double cut = walk->nodes[node].cut;
    Py_ssize_t above = 0, under = 0;
    if (walk->sets.start[node] == THRESHOLD)
        for (Py_ssize_t i = 0; i < count; i++) {
            uint16_t row = here[i];
            int yes = column[row] <= cut;
            here[above] = row;
            spare[under] = row;
            under += yes;
            above += !yes;
        }
    else
        for (Py_ssize_t i = 0; i < count; i++) {
            uint16_t row = here[i];
            int yes = below(walk, node, column[row]);
            here[above] = row;
            spare[under] = row;
            under += yes;
            above += !yes;
        }
    memcpy(here + above, spare, (size_t)under * sizeof *spare);
    return above;
}

typedef struct {
    int32_t node;
    uint16_t *here;
    Py_ssize_t count;
} Waiting;

static int in_parts(const Walk *walk, Waiting *stack, uint16_t *order, uint16_t *spare)
{
    for (Py_ssize_t first = 0; first < walk->rows; first += BLOCK) {
        Py_ssize_t count = walk->rows - first < BLOCK ? walk->rows - first : BLOCK;
        const double *data = walk->data + first;
        int64_t *out = walk->out + first;
        int top = 0;
        for (int32_t f = 0; walk->checked && f < walk->features; f++)
            if (any_missing(data + f * walk->across, count))
                return -1;
        for (Py_ssize_t i = 0; i < count; i++)
            order[i] = (uint16_t)i;
        stack[top++] = (Waiting){0, order, count};
        while (top) {
            Waiting now = stack[--top];
            if (is_leaf(walk->nodes, now.node)) {
                for (Py_ssize_t i = 0; i < now.count; i++)
                    out[now.here[i]] = walk->value[now.node];
                continue;
            }
            Py_ssize_t above = part(walk, now.node, data, now.here, now.count, spare);
            int32_t child = walk->nodes[now.node].child;
            if (above < now.count)
                stack[top++] = (Waiting){child + 1, now.here + above, now.count - above};
            if (above)
                stack[top++] = (Waiting){child, now.here, above};
        }
    }
    return 0;
}

enum { CUT, FEATURE, CHILD, VALUE, START, WIDTH, MEMBER, DATA, OUT, ARGUMENTS };

static const Wanted walk_wanted[] = {
    {"cut", 'f', 8, 1, 0},   {"feature", 'i', 4, 1, 0}, {"child", 'i', 4, 1, 0},
    {"value", 'i', 8, 1, 0}, {"start", 'i', 4, 1, 0},   {"width", 'i', 4, 1, 0},
    {"member", 'u', 1, 1, 0}, {"data", 'f', 8, 2, 0},   {"out", 'i', 8, 1, 1},
};

/* Children must be later than their parents, so that every walk ends; and everything must lie inside its array. */
static const char *unsound(const Array *a, Py_ssize_t features, Py_ssize_t rows, Py_ssize_t first)
{
    Py_ssize_t nodes = a[CUT].length;
    const int32_t *feature = a[FEATURE].data, *child = a[CHILD].data, *start = a[START].data, *width = a[WIDTH].data;
    if (nodes < 1 || nodes > INT32_MAX || features < 1 || features > INT32_MAX)
        return "a tree must have a node, and inputs a feature";
    if (first < 0 || first > rows || a[OUT].length > rows - first)
        return "the rows that are asked for must be there";
    for (int i = FEATURE; i <= WIDTH; i++)
        if (a[i].length != nodes)
            return "all arrays of nodes must have one length";
    for (Py_ssize_t v = 0; v < nodes; v++) {
        int leaf = child[v] == v && isnan(((const double *)a[CUT].data)[v]) && start[v] == THRESHOLD;
        if (feature[v] < 0 || feature[v] >= features || !(leaf || (child[v] > v && child[v] < nodes - 1)))
            return "a node must have a feature of the inputs, and children after itself; a leaf leads to itself";
        if (start[v] < OR_MISSING || (start[v] >= 0 && (width[v] < 0 || start[v] > a[MEMBER].length - width[v])))
            return "a set must lie inside member";
    }
    return NULL;
}

static PyObject *walk(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS];
    Array a[ARGUMENTS];
    int by_columns, depth, checked, found = 0;
    Py_ssize_t first;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOOOOnpip", &given[0], &given[1], &given[2], &given[3], &given[4], &given[5],
                          &given[6], &given[7], &given[8], &first, &by_columns, &depth, &checked)
        || arrays_take(given, walk_wanted, a, ARGUMENTS) < 0)
        return NULL;
    Py_ssize_t nodes = a[CUT].length, rows = a[DATA].shape[by_columns ? 1 : 0];
    const char *problem = unsound(a, a[DATA].shape[by_columns ? 0 : 1], rows, first);
    Walked *packed = problem ? NULL : malloc((size_t)nodes * sizeof *packed);
    Waiting *stack = problem ? NULL : malloc((size_t)(nodes + 1) * sizeof *stack);
    uint16_t *order = problem ? NULL : malloc(2 * BLOCK * sizeof *order);
    if (problem)
        PyErr_SetString(PyExc_ValueError, problem);
    else if (!packed || !stack || !order)
        PyErr_NoMemory();
    else {
        Py_BEGIN_ALLOW_THREADS
        int any_set = 0;
        for (Py_ssize_t v = 0; v < nodes; v++) {
            packed[v] = (Walked){((double *)a[CUT].data)[v], ((int32_t *)a[FEATURE].data)[v],
                                 ((int32_t *)a[CHILD].data)[v]};
            any_set |= ((int32_t *)a[START].data)[v] != THRESHOLD;
        }
        Py_ssize_t along = by_columns ? 1 : a[DATA].shape[1];
        Walk down = {packed, a[VALUE].data, {a[START].data, a[WIDTH].data, a[MEMBER].data},
                     (double *)a[DATA].data + first * along, a[OUT].length, by_columns ? rows : 1, along, a[OUT].data,
                     (int32_t)a[DATA].shape[by_columns ? 0 : 1], depth, checked};
        if (by_columns)
            found = in_parts(&down, stack, order, order + BLOCK);
        else
            found = any_set ? in_step(&down, 1) : in_step(&down, 0);
        Py_END_ALLOW_THREADS
    }
    free(packed);
    free(stack);
    free(order);
    arrays_release(a, ARGUMENTS);
    if (PyErr_Occurred())
        return NULL;
    return PyBool_FromLong(found == 0);
}

PyMethodDef predict_methods[] = {
    {"walk", walk, METH_VARARGS,
     "walk(cut, feature, child, value, start, width, member, data, out, first, by_columns, depth, checked)\n"
     "The value of the leaf that each row of data reaches, from the first on, written to out; False where numbers are "
     "checked and one is missing."},
    {NULL, NULL, 0, NULL},
};
