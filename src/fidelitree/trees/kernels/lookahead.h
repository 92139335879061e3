/* The rows of a node as words, and the costs of its splits, several splits ahead (lookahead.c). */

#ifndef FIDELITREE_LOOKAHEAD_H
#define FIDELITREE_LOOKAHEAD_H

#include "kernels.h"

/* DEEPEST: splits ahead. LANES: features at once. */
enum { DEEPEST = 4, LANES = 8 };

/* The rows of a node, packed: what all its sets of features share. */
typedef struct {
    int rows, labels, words, features; /* features: those that vary */
    int *first;
    int *names; /* of the features that vary */
    float *total, *penalty;
    uint64_t *columns;
} Packed;

/* The cost of the cheapest tree that starts with each feature, up to a depth; it stops where a tree that needs more
   depth has too many splits to be cheaper, at ``least`` a split. -1: no memory. */
int lookahead_costs(const Packed *packed, int deepest, float least, float *out);

#endif
