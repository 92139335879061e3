/* What a search over a table owns: nodes and sets on a stack, histograms, a stream of random numbers; and its way out.

   Nodes are never changed once they are part of a tree, only added; what a rejected proposal added is dropped by
   lowering the stack. `adopt` copies one tree to the bottom of the other arena, and all else is gone. */

#include "tables.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { POLL = 1 << 24 }; /* counted values between two looks at the clock: about 20 ms */

_Noreturn void search_fail(Search *s)
{
    longjmp(s->out, 1);
}

void *search_room(Search *s, void *old, size_t entries, size_t size)
{
    void *grown = entries > PTRDIFF_MAX / size ? NULL : realloc(old, entries * size);
    if (!grown) {
        PyEval_RestoreThread(s->unlocked);
        PyErr_NoMemory();
        search_fail(s);
    }
    return grown;
}

void search_work(Search *s, int64_t amount)
{
    s->work += amount;
    if (s->work < POLL)
        return;
    s->work = 0;
    PyEval_RestoreThread(s->unlocked);
    PyObject *said = PyErr_CheckSignals() < 0 ? NULL : PyObject_CallObject(s->watch, NULL);
    if (!said)
        search_fail(s);
    Py_DECREF(said);
    s->unlocked = PyEval_SaveThread();
}

static int32_t widest_block(const Table *table)
{
    int32_t widest = 0;
    for (int32_t c = 0; c < table->columns; c++) {
        int32_t last = c + BLOCK < table->columns ? c + BLOCK : table->columns;
        int32_t width = table->first_group[last] - table->first_group[c];
        widest = width > widest ? width : widest;
    }
    return widest;
}

int search_open(Search *s, const Table *table, PyObject *watch)
{
    size_t rows = (size_t)table->rows;
    int32_t largest = 0;
    memset(s, 0, sizeof *s);
    s->table = table, s->watch = watch;
    for (int32_t f = 0; f < table->features; f++)
        largest = table->sizes[f] > largest ? table->sizes[f] : largest;
    s->rows = malloc(rows * sizeof *s->rows);
    s->spare = malloc(rows * sizeof *s->spare);
    s->trial = malloc(rows * sizeof *s->trial);
    s->care = malloc(rows * sizeof *s->care);
    s->right = malloc(rows);
    s->near = calloc((size_t)largest * (size_t)table->classes, sizeof *s->near);
    s->line = malloc(4 * (size_t)table->classes * sizeof *s->line);
    s->present = malloc(((size_t)table->classes + 1) * sizeof *s->present);
    s->most_offers = largest > table->columns ? largest : table->columns;
    s->order = malloc((size_t)s->most_offers * sizeof *s->order);
    s->share = malloc((size_t)s->most_offers * sizeof *s->share);
    s->lefts = malloc(2 * (size_t)s->most_offers * sizeof *s->lefts);
    s->among = malloc((size_t)table->classes * (size_t)table->lines * sizeof *s->among + 1);
    s->finite = malloc((size_t)table->columns + 1);
    s->block = malloc(((size_t)widest_block(table) * (size_t)table->classes + 1) * sizeof *s->block);
    if (s->rows && s->spare && s->trial && s->care && s->right && s->near && s->line && s->present && s->order && s->share
        && s->lefts && s->among && s->finite && s->block)
        return 0;
    search_close(s);
    PyErr_NoMemory();
    return -1;
}

static void empty(Arena *arena)
{
    free(arena->nodes);
    free(arena->counts);
    free(arena->sets);
}

void search_close(Search *s)
{
    empty(&s->arena);
    empty(&s->other);
    for (int i = 0; i < s->buffers_all; i++)
        free(s->buffers[i]);
    free(s->buffers);
    free(s->rows);
    free(s->spare);
    free(s->trial);
    free(s->right);
    free(s->near);
    free(s->line);
    free(s->present);
    free(s->order);
    free(s->share);
    free(s->lefts);
    free(s->among);
    free(s->finite);
    free(s->block);
    free(s->care);
    free(s->keep);
    free(s->curves);
}

int32_t *buffer_get(Search *s)
{
    if (!s->buffers_free) {
        if (s->buffers_all == s->buffers_room) {
            s->buffers_room = 2 * s->buffers_room + 16;
            s->buffers = search_room(s, s->buffers, (size_t)s->buffers_room, sizeof *s->buffers);
        }
        size_t length = (size_t)s->table->width * (size_t)s->table->classes + 1;
        int32_t *fresh = search_room(s, NULL, length, sizeof(int32_t));
        /* those in use come after the free ones */
        memmove(s->buffers + 1, s->buffers, (size_t)s->buffers_all * sizeof *s->buffers);
        s->buffers[0] = fresh;
        s->buffers_all++;
        s->buffers_free = 1;
    }
    return s->buffers[--s->buffers_free];
}

void buffer_put(Search *s, int32_t *buffer)
{
    int at = s->buffers_free;
    while (s->buffers[at] != buffer)
        at++;
    s->buffers[at] = s->buffers[s->buffers_free];
    s->buffers[s->buffers_free++] = buffer;
}

int32_t *counts_of(Search *s, int32_t node)
{
    return s->arena.counts + (int64_t)node * s->table->classes;
}

static int32_t node_room(Search *s, Arena *arena)
{
    if (arena->length == arena->room) {
        int32_t more = arena->room + arena->room / 2 + 256;
        arena->nodes = search_room(s, arena->nodes, (size_t)more, sizeof *arena->nodes);
        arena->counts = search_room(s, arena->counts, (size_t)more * (size_t)s->table->classes, sizeof *arena->counts);
        arena->room = more;
    }
    return arena->length++;
}

static int32_t set_room(Search *s, Arena *arena)
{
    if (arena->set_length + s->table->words > arena->set_room) {
        arena->set_room = arena->set_room + arena->set_room / 2 + 16 * s->table->words;
        arena->sets = search_room(s, arena->sets, (size_t)arena->set_room, sizeof *arena->sets);
    }
    arena->set_length += s->table->words;
    return arena->set_length - s->table->words;
}

int32_t new_set(Search *s)
{
    int32_t set = set_room(s, &s->arena);
    memset(s->arena.sets + set, 0, (size_t)s->table->words * sizeof *s->arena.sets);
    return set;
}

int32_t new_leaf(Search *s, const int32_t *counts, int32_t begin, int32_t end)
{
    int32_t classes = s->table->classes;
    ptrdiff_t inside = s->arena.counts && counts >= s->arena.counts ? counts - s->arena.counts : -1;
    if (inside >= (int64_t)s->arena.length * classes)
        inside = -1; /* the counts do not move with the arena */
    int32_t node = node_room(s, &s->arena);
    counts = inside < 0 ? counts : s->arena.counts + inside;
    memcpy(counts_of(s, node), counts, (size_t)classes * sizeof *counts);
    s->arena.nodes[node] = (Node){{-1, -1, -1}, -1, -1, begin, end, 1, 0, 0};
    s->arena.nodes[node].errors = label(s, node);
    return node;
}

/* Gives a node the code of its heaviest label, the first among equals; what a leaf with it gets wrong. */
int32_t label(Search *s, int32_t node)
{
    const int32_t *counts = counts_of(s, node);
    int32_t best = 0, all = 0;
    for (int32_t k = 0; k < s->table->classes; k++) {
        all += counts[k];
        best = counts[k] > counts[best] ? k : best;
    }
    s->arena.nodes[node].code = best;
    return all - counts[best];
}

static int32_t copied(Search *s, int32_t from)
{
    int32_t node = node_room(s, &s->other), classes = s->table->classes;
    Node old = s->arena.nodes[from];
    memcpy(s->other.counts + (int64_t)node * classes, counts_of(s, from), (size_t)classes * sizeof(int32_t));
    if (old.test.feature >= 0) {
        if (old.test.set >= 0) {
            int32_t set = set_room(s, &s->other);
            memcpy(s->other.sets + set, s->arena.sets + old.test.set, (size_t)s->table->words * sizeof(uint64_t));
            old.test.set = set;
        }
        int32_t no = copied(s, old.no);
        old.no = no;
        old.yes = copied(s, old.yes);
    }
    s->other.nodes[node] = old;
    return node;
}

/* The tree becomes the only one, in preorder, its root node 0. */
void adopt(Search *s, int32_t root)
{
    s->other.length = s->other.set_length = 0;
    copied(s, root);
    Arena now = s->other;
    s->other = s->arena;
    s->arena = now;
}

/* Splitmix64, the twin of fidelitree.search.local.splitmix. */
uint64_t draw(Search *s)
{
    uint64_t z = s->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int32_t draw_below(Search *s, int32_t count)
{
    return (int32_t)((draw(s) >> 32) * (uint64_t)count >> 32);
}

enum { FEATURE, CUT, YES, SET, WORDS };
enum { MOST_NODES = 1 << 22, MOST_DEPTH = 5000 };

/* The part of a tree in preorder from v up to end, as nodes without rows; -1 where it is none. */
static int32_t read_part(Search *s, const Array *given, int32_t v, int32_t end, int depth)
{
    const int32_t *feature = given[FEATURE].data, *cut = given[CUT].data, *yes = given[YES].data;
    const int32_t *set = given[SET].data;
    memset(s->line, 0, (size_t)s->table->classes * sizeof *s->line);
    int32_t node = new_leaf(s, s->line, 0, 0), words = s->table->words, place = -1;
    if (feature[v] < 0)
        return end == v + 1 ? node : -1;
    if (depth == MOST_DEPTH || feature[v] >= s->table->features || yes[v] <= v + 1 || yes[v] >= end)
        return -1;
    if (set[v] >= 0) {
        if (set[v] >= given[WORDS].shape[0])
            return -1;
        place = new_set(s);
        memcpy(s->arena.sets + place, (uint64_t *)given[WORDS].data + (int64_t)set[v] * words,
               (size_t)words * sizeof(uint64_t));
    }
    int32_t no_side = read_part(s, given, v + 1, yes[v], depth + 1);
    int32_t yes_side = no_side < 0 ? -1 : read_part(s, given, yes[v], end, depth + 1);
    if (yes_side < 0)
        return -1;
    Node *here = &s->arena.nodes[node];
    here->test = (Test){feature[v], cut[v], place};
    here->no = no_side, here->yes = yes_side;
    here->leaves = s->arena.nodes[no_side].leaves + s->arena.nodes[yes_side].leaves;
    return node;
}

int32_t read_tree(Search *s, const Array *given)
{
    Py_ssize_t length = given[FEATURE].length;
    int sound = length >= 1 && length <= MOST_NODES && given[CUT].length == length && given[YES].length == length
        && given[SET].length == length && given[WORDS].shape[1] == s->table->words;
    int32_t root = sound ? read_part(s, given, 0, (int32_t)length, 0) : -1;
    if (root < 0) {
        PyEval_RestoreThread(s->unlocked);
        PyErr_SetString(PyExc_ValueError, "a tree must be nodes in preorder, the no side first, over the table's features");
        search_fail(s);
    }
    return root;
}

/* The tree as bytes of its arrays: feature, cut, yes, set, counts, words of sets. */
PyObject *write_tree(Search *s, int32_t root)
{
    PyObject *parts[6] = {NULL}, *tuple = NULL;
    adopt(s, root);
    PyEval_RestoreThread(s->unlocked);
    Py_ssize_t nodes = s->arena.length, size = nodes * (Py_ssize_t)sizeof(int32_t);
    for (int i = 0; i < 4; i++)
        parts[i] = PyBytes_FromStringAndSize(NULL, size);
    parts[4] = PyBytes_FromStringAndSize((char *)s->arena.counts, size * s->table->classes);
    parts[5] = PyBytes_FromStringAndSize((char *)s->arena.sets, s->arena.set_length * (Py_ssize_t)sizeof(uint64_t));
    if (parts[0] && parts[1] && parts[2] && parts[3] && parts[4] && parts[5]) {
        for (int32_t v = 0; v < nodes; v++) {
            Node node = s->arena.nodes[v];
            int32_t entries[] = {node.test.feature, node.test.cut, node.yes,
                                 node.test.set < 0 ? -1 : node.test.set / s->table->words};
            for (int i = 0; i < 4; i++)
                ((int32_t *)PyBytes_AsString(parts[i]))[v] = entries[i];
        }
        tuple = PyTuple_Pack(6, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
    }
    for (int i = 0; i < 6; i++)
        Py_XDECREF(parts[i]);
    return tuple;
}
