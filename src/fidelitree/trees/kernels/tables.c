/* Iterated local search over a table: the twin of fidelitree.search.local.iterated, and the family's doors. */

#include "tables.h"
#include <math.h>
#include <string.h>

enum { TOP = 3 };
enum { PULLED, ANY, BEST, WAYS };

/* An inner node of the tree below another, numbered from 0 in preorder. */
static int32_t inner(const Search *s, int32_t node, int32_t number)
{
    const Node *nodes = s->arena.nodes;
    while (number--) {
        int32_t here = nodes[nodes[node].no].leaves - 1;
        if (number >= here) {
            number -= here;
            node = nodes[node].yes;
        } else
            node = nodes[node].no;
    }
    return node;
}

/* A column that offers a test at all, drawn. */
static int32_t any_column(Search *s)
{
    int32_t count = 0, column = 0;
    for (int32_t c = 0; c < s->table->columns; c++)
        count += s->finite[c];
    for (int32_t left = draw_below(s, count) + 1; left; column++)
        left -= s->finite[column];
    return column - 1;
}

/* A test for the rows of a node, other than by greed alone. */
static Test first_test(Search *s, int32_t node, Seen *seen, int impurity)
{
    Offer top[TOP];
    int way = draw_below(s, WAYS), found = way == PULLED ? 0 : offers(s, seen, impurity, -1, top, TOP);
    if (!found)
        return s->arena.nodes[inner(s, node, draw_below(s, s->arena.nodes[node].leaves - 1))].test;
    if (way == ANY)
        found = offers(s, seen, impurity, any_column(s), top, TOP);
    return divide(s, top[draw_below(s, found)], seen, impurity);
}

/* The cheaper of a side grown anew and of what the old tree becomes there. */
static int32_t cheaper(Search *s, int32_t grown, int32_t old)
{
    Node side = s->arena.nodes[grown];
    int32_t fitted = refit(s, old, s->trial, side.begin, side.end, counts_of(s, grown));
    if (cost(s, fitted) < cost(s, grown))
        return fitted;
    arrange(s, grown, s->trial, side.begin, side.end);
    return grown;
}

/* Another subtree for the rows of a node, which are in ``trial``. */
static int32_t propose(Search *s, int32_t node)
{
    Node here = s->arena.nodes[node];
    int32_t count = here.end - here.begin, *table = few(s, count) ? NULL : buffer_get(s);
    int impurity = draw_below(s, 3);
    memcpy(s->trial, s->rows + here.begin, (size_t)count * sizeof *s->trial);
    if (table)
        histogram(s, s->trial, count, table);
    Seen seen = {table, s->trial, counts_of(s, node), count, 0, 0};
    Test test = first_test(s, node, &seen, impurity);
    int32_t new = new_leaf(s, counts_of(s, node), 0, count);
    grow_below(s, s->trial, new, table, test, 0, impurity);
    Node grown = s->arena.nodes[new];
    if (grown.test.feature >= 0) {
        int32_t no = cheaper(s, grown.no, node), yes = cheaper(s, grown.yes, node);
        Node *top = &s->arena.nodes[new], *nodes = s->arena.nodes;
        top->no = no, top->yes = yes;
        top->errors = nodes[no].errors + nodes[yes].errors;
        top->leaves = nodes[no].leaves + nodes[yes].leaves;
        paying(s, new);
    }
    return cost(s, new) < cost(s, node) + s->price ? polish(s, new, s->trial) : new;
}

static void shift(Search *s, int32_t node, int32_t by)
{
    Node *here = &s->arena.nodes[node];
    here->begin += by, here->end += by;
    if (here->test.feature >= 0) {
        shift(s, here->no, by);
        shift(s, here->yes, by);
    }
}

/* Puts a subtree in the place of an inner node, numbered as above; errors and leaves follow. */
static int32_t replaced(Search *s, int32_t node, int32_t number, int32_t new)
{
    if (!number)
        return new;
    Node *here = &s->arena.nodes[node], *nodes = s->arena.nodes;
    int32_t low = nodes[here->no].leaves - 1;
    if (number - 1 >= low)
        here->yes = replaced(s, here->yes, number - 1 - low, new);
    else
        here->no = replaced(s, here->no, number - 1, new);
    here->errors = nodes[here->no].errors + nodes[here->yes].errors;
    here->leaves = nodes[here->no].leaves + nodes[here->yes].leaves;
    return node;
}

/* Makes so many proposals to the tree at node 0; how many were made. */
static int32_t descend(Search *s, int32_t steps)
{
    int32_t made = 0;
    for (; made < steps && s->arena.nodes[0].leaves > 1; made++) {
        int32_t length = s->arena.length, set_length = s->arena.set_length;
        int32_t number = draw_below(s, s->arena.nodes[0].leaves - 1), node = inner(s, 0, number);
        int32_t new = propose(s, node);
        if (cost(s, new) <= cost(s, node) + SLACK) {
            Node here = s->arena.nodes[node];
            memcpy(s->rows + here.begin, s->trial, (size_t)(here.end - here.begin) * sizeof *s->rows);
            shift(s, new, here.begin);
            adopt(s, replaced(s, 0, number, new));
        } else {
            s->arena.length = length;
            s->arena.set_length = set_length;
        }
    }
    return made;
}

/* Counts of a tree whose rows are arranged. */
static void recount(Search *s, int32_t node)
{
    Node here = s->arena.nodes[node];
    int32_t *counts = counts_of(s, node);
    count_labels(s, s->rows + here.begin, here.end - here.begin, counts);
    s->arena.nodes[node].errors = label(s, node);
    if (here.test.feature >= 0) {
        recount(s, here.no);
        recount(s, here.yes);
        s->arena.nodes[node].errors = s->arena.nodes[here.no].errors + s->arena.nodes[here.yes].errors;
    }
}

static const Wanted tree_wanted[] = {
    {"feature", 'i', 4, 1, 0}, {"cut", 'i', 4, 1, 0}, {"yes", 'i', 4, 1, 0}, {"set", 'i', 4, 1, 0},
    {"sets", 'u', 8, 2, 0},
};
enum { TREE = 5, CART, FIT, DESCEND };

typedef struct {
    int kind, polished;
    int32_t most, steps;
} Task;

/* A shape fitted to all rows, its leaves grown on where that pays. */
static int32_t fitted(Search *s, int32_t shape)
{
    const int32_t rows = s->table->rows, *counts = s->line + s->table->classes;
    count_labels(s, s->rows, rows, s->line + s->table->classes);
    return extend(s, refit(s, shape, s->rows, 0, rows, counts));
}

/* Does a task with the lock released; NULL with an exception where it fails or is ended. */
static PyObject *done(Search *s, const Array *tree, Task *task)
{
    if (setjmp(s->out))
        return NULL; /* whoever jumps holds the lock */
    s->unlocked = PyEval_SaveThread();
    for (int32_t row = 0; row < s->table->rows; row++)
        s->rows[row] = row;
    if (task->kind == CART)
        return write_tree(s, best_first(s, s->table->rows, task->most));
    int32_t shape = read_tree(s, tree);
    if (task->kind == FIT)
        return write_tree(s, fitted(s, shape));
    arrange(s, shape, s->rows, 0, s->table->rows);
    recount(s, shape);
    adopt(s, task->polished ? polish(s, shape, s->rows) : shape);
    task->steps = descend(s, task->steps);
    return write_tree(s, 0);
}

static PyObject *run(PyObject *capsule, PyObject *watch, double price, uint64_t *state, PyObject **given, Task *task)
{
    Search s;
    Array tree[TREE] = {{{0}, 0, 0, {0}}};
    const Table *table = table_of(capsule);
    if (!table)
        return NULL;
    if (!(price >= 0) || isinf(price)) {
        PyErr_SetString(PyExc_ValueError, "price must be a number from 0");
        return NULL;
    }
    if (given && arrays_take(given, tree_wanted, tree, TREE) < 0)
        return NULL;
    PyObject *found = NULL;
    if (search_open(&s, table, watch) == 0) {
        s.price = price, s.state = *state;
        found = done(&s, tree, task);
        *state = s.state;
        search_close(&s);
    }
    if (given)
        arrays_release(tree, TREE);
    return found;
}

static PyObject *table_cart(PyObject *module, PyObject *args)
{
    PyObject *capsule, *watch;
    Task task = {CART, 0, 0, 0};
    uint64_t state = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "OiO", &capsule, &task.most, &watch))
        return NULL;
    if (task.most < 1)
        return PyErr_Format(PyExc_ValueError, "most must be at least 1; got %d", task.most);
    return run(capsule, watch, 0, &state, NULL, &task);
}

static PyObject *table_fit(PyObject *module, PyObject *args)
{
    PyObject *capsule, *watch, *given[TREE];
    Task task = {FIT, 0, 0, 0};
    double price;
    uint64_t state = 0;
    (void)module;
    if (!PyArg_ParseTuple(args, "O(OOOOO)dO", &capsule, &given[0], &given[1], &given[2], &given[3], &given[4], &price,
                          &watch))
        return NULL;
    return run(capsule, watch, price, &state, given, &task);
}

static PyObject *table_descend(PyObject *module, PyObject *args)
{
    PyObject *capsule, *watch, *given[TREE], *found;
    Task task = {DESCEND, 0, 0, 0};
    double price;
    unsigned long long number;
    (void)module;
    if (!PyArg_ParseTuple(args, "O(OOOOO)dKipO", &capsule, &given[0], &given[1], &given[2], &given[3], &given[4],
                          &price, &number, &task.steps, &task.polished, &watch))
        return NULL;
    uint64_t state = number;
    if (!(found = run(capsule, watch, price, &state, given, &task)))
        return NULL;
    return Py_BuildValue("(NKi)", found, (unsigned long long)state, task.steps);
}

PyMethodDef tables_methods[] = {
    {"table", table_new, METH_VARARGS,
     "table(bins, codes, sizes, ordered, chosen, xlogx, classes, most): rows of bins for a search, which counts neighbouring "
     "bins together where a feature has more than most."},
    {"table_cart", table_cart, METH_VARARGS, "table_cart(table, most, watch): CART's tree with so many leaves."},
    {"table_fit", table_fit, METH_VARARGS,
     "table_fit(table, tree, price, watch): the tree fitted to all rows, its leaves grown on where that pays."},
    {"table_descend", table_descend, METH_VARARGS,
     "table_descend(table, tree, price, state, steps, polished, watch): the tree after so many proposals, the stream's "
     "state and how many proposals were made."},
    {"table_prune", table_prune, METH_VARARGS,
     "table_prune(table, tree, errors, watch): of every node and number of leaves the leaves of the shorter side; and the "
     "errors of the best prunings of the whole tree."},
    {NULL, NULL, 0, NULL},
};
