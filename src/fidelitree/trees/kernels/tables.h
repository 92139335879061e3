/* Searching trees for labelled rows of bins: what the files tables*.c share.

   The twin is fidelitree.search.local, which says what everything means; the names are the same. Every row counts 1
   here, so all counts are integers, sums are exact in any order, and both ways give the same tree bit for bit. */

#ifndef FIDELITREE_TABLES_H
#define FIDELITREE_TABLES_H

#include "kernels.h"
#include <setjmp.h>

enum { GINI, ROOT, ENTROPY };
enum { ALL_SUBSETS = 10, MANY = 16, DEEPEST = 100, FEW_ROWS = 512, BLOCK = 16 };
#define SLACK 1e-9

enum { BINS, CODES, SIZES, ORDERED, CHOSEN, XLOGX, TABLE_ARRAYS };

/* Rows of bins, checked; it is never changed. Of the features only the chosen ones may be asked about. */
typedef struct {
    Array arrays[TABLE_ARRAYS];
    int32_t rows, features, classes, columns, width; /* columns: chosen features; width: groups of all of them */
    const uint16_t *bins;    /* features x rows */
    const int32_t *codes;    /* the label of each row */
    const int32_t *sizes;    /* bins of each feature */
    const uint8_t *ordered;  /* whether its tests are thresholds */
    const int32_t *chosen;
    const double *xlogx;     /* x log x for every count */
    uint16_t *groups;        /* the group of each bin, one chosen feature after the other */
    int32_t *first_group;    /* columns + 1 */
    int32_t *first_bin;      /* columns + 1: where a column's part of ``groups`` and ``under`` begins */
    int32_t *column_of;      /* of each feature, or -1 */
    int32_t *under;          /* how many rows have at most this bin */
    uint16_t *keys;          /* rows x columns: the group of each value */
    int32_t words;           /* of a set of bins */
    uint64_t *ones;          /* columns x lines of 64 rows: those in the second of two groups; NULL unless all have two */
    int32_t lines;
} Table;

/* A set is a place among the search's words, or -1: then bins up to the cut pass. */
typedef struct {
    int32_t feature, cut, set;
} Test;

typedef struct {
    Test test; /* its feature is -1 at a leaf */
    int32_t no, yes, begin, end, leaves, errors, code;
} Node;

typedef struct {
    Node *nodes;
    int32_t *counts; /* classes entries a node */
    uint64_t *sets;
    int32_t length, room, set_length, set_room;
} Arena;

typedef struct {
    const Table *table;
    Arena arena, other;
    int32_t *rows, *spare, *near; /* a permutation of all rows; room for a side of it; counts of bins */
    int32_t *trial;               /* rows of the node under change */
    int32_t *care;                /* rows that exactly one side of a node gets right */
    uint8_t *right;
    void *keep, *curves;          /* freed at the end */
    int32_t *line;                /* scratch: 4 lines of classes entries */
    int32_t *present, some;       /* scratch: the labels of a node, and how many these are */
    int32_t *order;               /* scratch: groups of a feature in order of their share; or columns */
    double *share;                /* scratch: a number for each of them */
    int32_t *lefts;               /* scratch: of two labels, how many rows each of them has on the left */
    int32_t most_offers;          /* room of these lines */
    uint64_t *among;              /* scratch: rows of a node as bits, a line for each label */
    uint8_t *finite;              /* features that offer a test */
    int32_t *block;               /* scratch: labels by group of up to BLOCK columns */
    int32_t **buffers;            /* histograms: free ones first */
    int buffers_free, buffers_all, buffers_room;
    double price;
    uint64_t state; /* of the stream of random numbers */
    int64_t work;
    PyObject *watch;
    PyThreadState *unlocked;
    jmp_buf out;
} Search;

/* A test as the menu of a node offers it, over groups. */
typedef struct {
    double score;
    int32_t kind, column, place, direction;
} Offer;

enum { THRESHOLD, SINGLE, SUBSET, RANKED };

/* The rows of a node with their labels counted. Without a histogram columns are counted when they are looked at, some
   at a time: it is faster where rows are few, because a histogram of many columns is mostly empty then. */
typedef struct {
    const int32_t *table, *rows, *counts;
    int32_t count, first, last; /* columns that are in the search's block */
} Seen;

/* tables_data.c */
const Table *table_of(PyObject *capsule);
PyObject *table_new(PyObject *module, PyObject *args);

/* tables_arena.c */
int search_open(Search *s, const Table *table, PyObject *watch);
void search_close(Search *s);
void search_work(Search *s, int64_t amount);
_Noreturn void search_fail(Search *s);
void *search_room(Search *s, void *old, size_t entries, size_t size);
int32_t *buffer_get(Search *s);
void buffer_put(Search *s, int32_t *buffer);
int32_t new_leaf(Search *s, const int32_t *counts, int32_t begin, int32_t end);
int32_t label(Search *s, int32_t node);
int32_t new_set(Search *s);
int32_t *counts_of(Search *s, int32_t node);
void adopt(Search *s, int32_t root);
uint64_t draw(Search *s);
int32_t draw_below(Search *s, int32_t count);
int32_t read_tree(Search *s, const Array *given);
PyObject *write_tree(Search *s, int32_t root);

/* tables_splits.c */
void count_labels(const Search *s, const int32_t *rows, int32_t count, int32_t *counts);
void histogram(Search *s, const int32_t *rows, int32_t count, int32_t *table);
const int32_t *column_counts(Search *s, Seen *seen, int32_t column);
int offers(Search *s, Seen *seen, int impurity, int32_t only, Offer *top, int most);
double score(const Search *s, const int32_t *left, const int32_t *counts, int32_t all, int impurity);
void rank(Search *s, const int32_t *here, int32_t groups, int32_t direction);
void note_labels(Search *s, const int32_t *counts);
double impurity_of(Search *s, const int32_t *counts, int impurity);

/* tables_divide.c */
Test divide(Search *s, Offer offer, Seen *seen, int impurity);
Test centred(Search *s, Test test, const int32_t *rows, int32_t count);
int32_t part_rows(Search *s, Test test, int32_t *rows, int32_t count);

/* tables_grow.c */
int32_t grow(Search *s, int32_t *rows, int32_t begin, int32_t end, const int32_t *counts, int32_t *table, int depth,
             int impurity);
int32_t grow_below(Search *s, int32_t *rows, int32_t node, int32_t *table, Test test, int depth, int impurity);
int32_t refit(Search *s, int32_t shape, int32_t *rows, int32_t begin, int32_t end, const int32_t *counts);
int32_t refit_below(Search *s, Test test, int32_t no, int32_t yes, int32_t *rows, int32_t node);
int32_t paying(Search *s, int32_t node);
void arrange(Search *s, int32_t node, int32_t *rows, int32_t begin, int32_t end);
int32_t best_first(Search *s, int32_t rows, int32_t most);
int32_t extend(Search *s, int32_t node);

/* tables_polish.c */
int32_t polish(Search *s, int32_t node, int32_t *rows);

/* tables_prune.c */
PyObject *table_prune(PyObject *module, PyObject *args);

static inline int passes(const Search *s, Test test, int32_t row)
{
    uint32_t bin = s->table->bins[(int64_t)test.feature * s->table->rows + row];
    if (test.set < 0)
        return (int32_t)bin <= test.cut;
    return s->arena.sets[test.set + (bin >> 6)] >> (bin & 63) & 1;
}

/* Whether so many rows are counted column by column. */
static inline int few(const Search *s, int32_t count)
{
    return !s->table->ones && count <= FEW_ROWS;
}

/* What greedy growth goes by. */
static inline int greedy(const Search *s)
{
    return s->table->classes > MANY ? ENTROPY : GINI;
}

static inline double cost(const Search *s, int32_t node)
{
    return s->arena.nodes[node].errors + s->price * s->arena.nodes[node].leaves;
}

#endif
