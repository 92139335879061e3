/* Trees grown greedily, fitted to other rows, and taken back where a split does not pay: the twin of
   fidelitree.search.local.node. ``rows`` is an array whose part from begin to end belongs to a node, in any order. */

#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t split(Search *s, int32_t node, Test test, int32_t no, int32_t yes)
{
    Node *nodes = s->arena.nodes, *here = &nodes[node];
    here->test = test, here->no = no, here->yes = yes;
    here->errors = nodes[no].errors + nodes[yes].errors;
    here->leaves = nodes[no].leaves + nodes[yes].leaves;
    return node;
}

/* The node, or a leaf in its place where that is not dearer. */
int32_t paying(Search *s, int32_t node)
{
    Node *here = &s->arena.nodes[node];
    int32_t alone = label(s, node);
    if (here->test.feature < 0 || here->errors + s->price * here->leaves < alone + s->price)
        return node;
    here->test = (Test){-1, -1, -1};
    here->leaves = 1;
    here->errors = alone;
    return node;
}

/* Leaves for both sides of a node whose rows are parted; the yes side comes right after the no side. */
static int32_t side_leaves(Search *s, const int32_t *rows, int32_t node, int32_t fail)
{
    Node here = s->arena.nodes[node];
    int32_t middle = here.begin + fail, classes = s->table->classes, *line = s->line + 3 * classes;
    count_labels(s, rows + middle, here.end - middle, line);
    int32_t no = new_leaf(s, line, here.begin, middle), yes = new_leaf(s, line, middle, here.end);
    int32_t *counts = counts_of(s, no), *whole = counts_of(s, node), *part = counts_of(s, yes);
    for (int32_t k = 0; k < classes; k++)
        counts[k] = whole[k] - part[k];
    s->arena.nodes[no].errors = label(s, no);
    return no;
}

/* Grows a leaf on; its histogram is used up, or NULL. */
static void grow_leaf(Search *s, int32_t *rows, int32_t node, int32_t *table, int depth, int impurity)
{
    Node here = s->arena.nodes[node];
    Offer best;
    if (here.errors > s->price && depth < DEEPEST) {
        const int32_t count = here.end - here.begin;
        if (!table && !few(s, count))
            histogram(s, rows + here.begin, count, table = buffer_get(s));
        Seen seen = {table, rows + here.begin, counts_of(s, node), count, 0, 0};
        if (offers(s, &seen, impurity, -1, &best, 1)) {
            grow_below(s, rows, node, table, divide(s, best, &seen, impurity), depth, impurity);
            return;
        }
    }
    if (table)
        buffer_put(s, table);
}

/* Divides a leaf by a test and grows both sides; its histogram is used up, or NULL. */
int32_t grow_below(Search *s, int32_t *rows, int32_t node, int32_t *table, Test test, int depth, int impurity)
{
    const int64_t length = (int64_t)s->table->width * s->table->classes;
    Node here = s->arena.nodes[node];
    int32_t fail = part_rows(s, test, rows + here.begin, here.end - here.begin);
    int32_t no = side_leaves(s, rows, node, fail), yes = no + 1;
    int32_t pass = here.end - here.begin - fail, small = pass < fail ? yes : no, large = pass < fail ? no : yes;
    int32_t *other = NULL;
    if (table && (s->arena.nodes[large].errors <= s->price || few(s, pass < fail ? fail : pass))) {
        buffer_put(s, table); /* the large side will not be divided, or is counted faster than this is changed */
        table = NULL;
    } else if (table) {
        Node part = s->arena.nodes[small];
        histogram(s, rows + part.begin, part.end - part.begin, other = buffer_get(s));
        for (int64_t i = 0; i < length; i++)
            table[i] -= other[i];
    }
    grow_leaf(s, rows, small, other, depth + 1, impurity);
    grow_leaf(s, rows, large, table, depth + 1, impurity);
    return paying(s, split(s, node, test, no, yes));
}

int32_t grow(Search *s, int32_t *rows, int32_t begin, int32_t end, const int32_t *counts, int32_t *table, int depth,
             int impurity)
{
    int32_t node = new_leaf(s, counts, begin, end);
    grow_leaf(s, rows, node, table, depth, impurity);
    return node;
}

static void refit_leaf(Search *s, int32_t shape, int32_t *rows, int32_t node)
{
    Node here = s->arena.nodes[node];
    search_work(s, here.end - here.begin);
    for (;;) {
        Node like = s->arena.nodes[shape];
        if (like.test.feature < 0 || here.errors <= s->price)
            return;
        int32_t fail = part_rows(s, like.test, rows + here.begin, here.end - here.begin);
        if (fail && fail < here.end - here.begin) {
            int32_t no = side_leaves(s, rows, node, fail), yes = no + 1;
            refit_leaf(s, like.no, rows, no);
            refit_leaf(s, like.yes, rows, yes);
            paying(s, split(s, node, like.test, no, yes));
            return;
        }
        shape = fail ? like.no : like.yes; /* a side without rows is gone */
    }
}

/* The same tests for these rows: labels anew; branches without rows and splits that do not pay are gone. */
int32_t refit(Search *s, int32_t shape, int32_t *rows, int32_t begin, int32_t end, const int32_t *counts)
{
    int32_t node = new_leaf(s, counts, begin, end);
    refit_leaf(s, shape, rows, node);
    return node;
}

/* The same for a test above two trees, for the rows of a node. */
int32_t refit_below(Search *s, Test test, int32_t no, int32_t yes, int32_t *rows, int32_t node)
{
    Node here = s->arena.nodes[node];
    int32_t shape = new_leaf(s, counts_of(s, node), 0, 0);
    Node *top = &s->arena.nodes[shape];
    top->test = test, top->no = no, top->yes = yes;
    return refit(s, shape, rows, here.begin, here.end, counts_of(s, node));
}

/* Rows in the order of a tree's leaves; the tree's nodes know their parts afterwards. */
void arrange(Search *s, int32_t node, int32_t *rows, int32_t begin, int32_t end)
{
    Node *here = &s->arena.nodes[node];
    here->begin = begin, here->end = end;
    if (here->test.feature < 0)
        return;
    search_work(s, end - begin);
    int32_t middle = begin + part_rows(s, here->test, rows + begin, end - begin);
    arrange(s, here->no, rows, begin, middle);
    arrange(s, here->yes, rows, middle, end);
}

/* The tree with its leaves grown on where that pays. */
int32_t extend(Search *s, int32_t node)
{
    Node here = s->arena.nodes[node];
    if (here.test.feature < 0) {
        grow_leaf(s, s->rows, node, NULL, 0, greedy(s));
        return node;
    }
    extend(s, here.no);
    extend(s, here.yes);
    return paying(s, split(s, node, here.test, here.no, here.yes));
}

typedef struct {
    double gain;
    int32_t node;
    Offer offer;
} Open;

/* A leaf with what its best split gains; nothing is gained where there is none. */
static Open opened(Search *s, int32_t node, int32_t *table)
{
    Node here = s->arena.nodes[node];
    Open open = {-INFINITY, node, {INFINITY, 0, 0, 0, 0}};
    if (!here.errors)
        return open;
    Seen seen = {NULL, s->rows + here.begin, counts_of(s, node), here.end - here.begin, 0, 0};
    if (!few(s, seen.count)) {
        histogram(s, seen.rows, seen.count, table);
        seen.table = table;
    }
    if (offers(s, &seen, greedy(s), -1, &open.offer, 1))
        open.gain = impurity_of(s, counts_of(s, node), greedy(s)) - open.offer.score;
    return open;
}

static void settle(Search *s, int32_t node)
{
    Node here = s->arena.nodes[node];
    if (here.test.feature < 0)
        return;
    settle(s, here.no);
    settle(s, here.yes);
    split(s, node, here.test, here.no, here.yes);
}

/* CART's own growth over the first rows: the leaf whose best split gains most is divided first, of equals the older. */
int32_t best_first(Search *s, int32_t rows, int32_t most)
{
    const Table *t = s->table;
    count_labels(s, s->rows, rows, s->line + t->classes);
    int32_t *table = buffer_get(s), root = new_leaf(s, s->line + t->classes, 0, rows), leaves = 1;
    most = most < rows ? most : rows;
    Open *open = s->keep = search_room(s, s->keep, (size_t)most + 1, sizeof *open);
    open[0] = opened(s, root, table);
    for (; leaves < most; leaves++) {
        int32_t best = 0;
        for (int32_t i = 1; i < leaves; i++)
            if (open[i].gain > open[best].gain || (open[i].gain == open[best].gain && open[i].node < open[best].node))
                best = i;
        if (open[best].gain == -INFINITY)
            break;
        Node here = s->arena.nodes[open[best].node];
        int32_t node = open[best].node;
        Seen seen = {NULL, s->rows + here.begin, counts_of(s, node), here.end - here.begin, 0, 0};
        Test test = divide(s, open[best].offer, &seen, greedy(s));
        int32_t fail = part_rows(s, test, s->rows + here.begin, seen.count);
        int32_t no = side_leaves(s, s->rows, node, fail);
        s->arena.nodes[node].test = test;
        s->arena.nodes[node].no = no, s->arena.nodes[node].yes = no + 1;
        open[best] = opened(s, no, table);
        open[leaves] = opened(s, no + 1, table);
    }
    settle(s, root);
    buffer_put(s, table);
    return root;
}
