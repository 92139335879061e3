/* The tests a node may ask, and how well each divides its rows: the twin of fidelitree.search.local.splits. */

#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9

void count_labels(const Search *s, const int32_t *rows, int32_t count, int32_t *counts)
{
    memset(counts, 0, (size_t)s->table->classes * sizeof *counts);
    for (int32_t i = 0; i < count; i++)
        counts[s->table->codes[rows[i]]]++;
}

/* The same 64 rows at a time, where every column has two groups. */
CLONES static void histogram_of_bits(Search *s, const int32_t *rows, int32_t count, int32_t *table)
{
    const Table *t = s->table;
    const int32_t classes = t->classes, lines = t->lines;
    int32_t *all = s->line + 2 * classes;
    memset(all, 0, (size_t)classes * sizeof *all);
    memset(s->among, 0, (size_t)classes * (size_t)lines * sizeof *s->among);
    for (int32_t i = 0; i < count; i++) {
        int32_t row = rows[i], code = t->codes[row];
        s->among[(int64_t)code * lines + (row >> 6)] |= UINT64_C(1) << (row & 63);
        all[code]++;
    }
    for (int32_t c = 0; c < t->columns; c++)
        for (int32_t k = 0; k < classes; k++) {
            const uint64_t *column = t->ones + (int64_t)c * lines, *mine = s->among + (int64_t)k * lines;
            int32_t found = 0;
            for (int32_t i = 0; i < lines; i++)
                found += __builtin_popcountll(column[i] & mine[i]);
            table[2 * c * classes + k] = all[k] - found;
            table[(2 * c + 1) * classes + k] = found;
        }
}

/* How many rows there are of each label in each group: group by group, labels side by side. */
void histogram(Search *s, const int32_t *rows, int32_t count, int32_t *table)
{
    const Table *t = s->table;
    const int32_t columns = t->columns, classes = t->classes, *first = t->first_group;
    search_work(s, (int64_t)count * columns + t->width);
    if (t->ones && count > (int64_t)classes * t->lines) {
        histogram_of_bits(s, rows, count, table);
        return;
    }
    memset(table, 0, (size_t)t->width * (size_t)classes * sizeof *table);
    for (int32_t i = 0; i < count; i++) {
        const uint16_t *key = t->keys + (int64_t)rows[i] * columns;
        int32_t *here = table + t->codes[rows[i]];
        if (classes == 2)
            for (int32_t c = 0; c < columns; c++)
                here[(first[c] + key[c]) * 2]++;
        else
            for (int32_t c = 0; c < columns; c++)
                here[(first[c] + key[c]) * classes]++;
    }
}

/* How many rows there are of each label in each group of a column. */
const int32_t *column_counts(Search *s, Seen *seen, int32_t column)
{
    const Table *t = s->table;
    const int32_t classes = t->classes, *first = t->first_group;
    if (seen->table)
        return seen->table + (int64_t)first[column] * classes;
    if (column < seen->first || column >= seen->last) {
        int32_t last = column + BLOCK < t->columns ? column + BLOCK : t->columns;
        seen->first = column, seen->last = last;
        memset(s->block, 0, (size_t)(first[last] - first[column]) * (size_t)classes * sizeof *s->block);
        for (int32_t i = 0; i < seen->count; i++) {
            const uint16_t *key = t->keys + (int64_t)seen->rows[i] * t->columns;
            int32_t *here = s->block + t->codes[seen->rows[i]] - (int64_t)first[column] * classes;
            for (int32_t c = column; c < last; c++)
                here[(first[c] + key[c]) * classes]++;
        }
    }
    return s->block + (int64_t)(first[column] - first[seen->first]) * classes;
}

/* Notes which labels there are: what others add to a sum is nothing, and a small node has few of a thousand. */
void note_labels(Search *s, const int32_t *counts)
{
    s->some = 0;
    for (int32_t k = 0; k < s->table->classes; k++) {
        s->present[s->some] = k;
        s->some += counts[k] > 0;
    }
}

static inline double one_side(const Search *s, const int32_t *side, int32_t mass, int impurity)
{
    const int32_t some = s->some, *present = s->present;
    double sum = 0;
    switch (impurity) {
    case GINI:
        for (int32_t i = 0; i < some; i++)
            sum += (double)side[present[i]] * side[present[i]];
        return mass ? mass - sum / mass : 0;
    case ROOT:
        for (int32_t i = 0; i < some; i++)
            sum += sqrt((double)side[present[i]] * (mass - side[present[i]]));
        return sum;
    default:
        for (int32_t i = 0; i < some; i++)
            sum += s->table->xlogx[side[present[i]]];
        return s->table->xlogx[mass] - sum;
    }
}

double impurity_of(Search *s, const int32_t *counts, int impurity)
{
    int32_t mass = 0;
    note_labels(s, counts);
    for (int32_t i = 0; i < s->some; i++)
        mass += counts[s->present[i]];
    return one_side(s, counts, mass, impurity);
}

/* What a test leaves unexplained that puts these rows on its yes side; infinite where all go to one side. */
double score(const Search *s, const int32_t *left, const int32_t *counts, int32_t all, int impurity)
{
    int32_t *rest = s->line + 2 * s->table->classes, mass = 0;
    for (int32_t i = 0; i < s->some; i++) {
        const int32_t k = s->present[i];
        mass += left[k];
        rest[k] = counts[k] - left[k];
    }
    if (!mass || mass == all)
        return INFINITY;
    return one_side(s, left, mass, impurity) + one_side(s, rest, all - mass, impurity);
}

typedef struct {
    Search *s;
    Seen *seen;
    int32_t all;
    int impurity, most, found;
    Offer *top; /* the best, sorted; of equals the first comes first */
} Looking;

static inline void place(Looking *l, Offer one)
{
    if (one.score == INFINITY)
        return;
    l->s->finite[one.column] = 1;
    if (l->found == l->most && (!l->most || one.score >= l->top[l->most - 1].score))
        return;
    int at = l->found < l->most ? l->found++ : l->most - 1;
    for (; at > 0 && one.score < l->top[at - 1].score; at--)
        l->top[at] = l->top[at - 1];
    l->top[at] = one;
}

static inline void offer(Looking *l, const int32_t *left, Offer one)
{
    one.score = score(l->s, left, l->seen->counts, l->all, l->impurity);
    place(l, one);
}

/* Scores of many ways to divide rows of two labels, the same bit for bit: straight loops that become vectors. */
CLONES static void two_scores(const Looking *l, int32_t count)
{
    const int32_t *restrict left = l->s->lefts, ones = l->seen->counts[0], twos = l->seen->counts[1];
    const double *xlogx = l->s->table->xlogx;
    double *restrict scores = l->s->share;
    switch (l->impurity) {
    case GINI:
        for (int32_t i = 0; i < count; i++) {
            double a = left[2 * i], b = left[2 * i + 1], c = ones - a, d = twos - b;
            scores[i] = (a + b - (a * a + b * b) / (a + b)) + (c + d - (c * c + d * d) / (c + d));
        }
        return;
    case ROOT:
        for (int32_t i = 0; i < count; i++)
            scores[i] = 2 * sqrt((double)left[2 * i] * left[2 * i + 1])
                + 2 * sqrt((double)(ones - left[2 * i]) * (twos - left[2 * i + 1]));
        return;
    default:
        for (int32_t i = 0; i < count; i++) {
            int32_t a = left[2 * i], b = left[2 * i + 1], c = ones - a, d = twos - b;
            scores[i] = (xlogx[a + b] - (xlogx[a] + xlogx[b])) + (xlogx[c + d] - (xlogx[c] + xlogx[d]));
        }
    }
}

static inline double least(const double *scores, int32_t count)
{
    double some[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int32_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (int k = 0; k < 4; k++)
            some[k] = scores[i + k] < some[k] ? scores[i + k] : some[k];
    for (; i < count; i++)
        some[0] = scores[i] < some[0] ? scores[i] : some[0];
    some[0] = some[1] < some[0] ? some[1] : some[0];
    some[2] = some[3] < some[2] ? some[3] : some[2];
    return some[2] < some[0] ? some[2] : some[0];
}

/* The thresholds of a column where there are two labels; one after an empty group divides like the one before. */
static void two_thresholds(Looking *l, int32_t column)
{
    const Table *t = l->s->table;
    const int32_t groups = t->first_group[column + 1] - t->first_group[column];
    const int32_t *here = column_counts(l->s, l->seen, column);
    int32_t count = 0, *order = l->s->order, *lefts = l->s->lefts;
    uint64_t both, sum = 0, whole; /* two counts are added as one number, and no branch says whether there are any */
    memcpy(&whole, l->seen->counts, sizeof whole);
    for (int32_t g = 0; g < groups - 1; g++) {
        memcpy(&both, here + 2 * g, sizeof both);
        sum += both;
        memcpy(lefts + 2 * count, &sum, sizeof sum);
        order[count] = g;
        count += (both != 0) & (sum != whole);
    }
    two_scores(l, count);
    l->s->finite[column] |= count > 0;
    double worst = l->most && l->found == l->most ? l->top[l->most - 1].score : INFINITY;
    if (!l->most || !(least(l->s->share, count) < worst))
        return;
    for (int32_t i = 0; i < count; i++)
        if (l->s->share[i] < worst) {
            place(l, (Offer){l->s->share[i], THRESHOLD, column, order[i], 0});
            worst = l->found == l->most ? l->top[l->most - 1].score : INFINITY;
        }
}

/* The only threshold of each column where all have two groups, and there are two labels. */
static void two_groups(Looking *l, int32_t first, int32_t last)
{
    int32_t count = 0, *lefts = l->s->lefts;
    for (int32_t c = first; c < last; c++) {
        const int32_t a = l->seen->table[4 * (int64_t)c], b = l->seen->table[4 * (int64_t)c + 1];
        lefts[2 * count] = a;
        lefts[2 * count + 1] = b;
        l->s->order[count] = c;
        count += a + b > 0 && a + b < l->all;
    }
    two_scores(l, count);
    for (int32_t i = 0; i < count; i++)
        place(l, (Offer){l->s->share[i], THRESHOLD, l->s->order[i], 0, 0});
}

static void thresholds(Looking *l, int32_t column)
{
    const Table *t = l->s->table;
    const int32_t classes = t->classes, groups = t->first_group[column + 1] - t->first_group[column];
    const int32_t *here = column_counts(l->s, l->seen, column);
    int32_t *left = l->s->line;
    memset(left, 0, (size_t)classes * sizeof *left);
    for (int32_t g = 0; g < groups - 1; g++, here += classes) {
        int32_t any = 0;
        for (int32_t i = 0; i < l->s->some; i++) {
            const int32_t k = l->s->present[i];
            left[k] += here[k];
            any |= here[k];
        }
        if (any) /* else it divides like the one before */
            offer(l, left, (Offer){0, THRESHOLD, column, g, 0});
    }
}

static void singles(Looking *l, int32_t column)
{
    const Table *t = l->s->table;
    const int32_t groups = t->first_group[column + 1] - t->first_group[column];
    for (int32_t g = 0; g < (groups == 2 ? 1 : groups > 1 ? groups : 0); g++)
        offer(l, column_counts(l->s, l->seen, column) + (int64_t)g * t->classes, (Offer){0, SINGLE, column, g, 0});
}

static void subsets(Looking *l, int32_t column)
{
    const Table *t = l->s->table;
    const int32_t classes = t->classes, groups = t->first_group[column + 1] - t->first_group[column];
    const int32_t *here = column_counts(l->s, l->seen, column);
    int32_t *left = l->s->line;
    for (int32_t mask = 1; mask < 1 << (groups - 1); mask++) {
        int size = __builtin_popcount((unsigned)mask);
        if (size < 2 || size > groups - 2)
            continue;
        memset(left, 0, (size_t)classes * sizeof *left);
        for (int32_t g = 0; g < groups; g++)
            for (int32_t k = 0; mask >> g & 1 && k < classes; k++)
                left[k] += here[(int64_t)g * classes + k];
        offer(l, left, (Offer){0, SUBSET, column, mask, 0});
    }
}

/* The groups of a column in order of the share that a label has, equal shares in order of their numbers. */
void rank(Search *s, const int32_t *here, int32_t groups, int32_t direction)
{
    const int32_t classes = s->table->classes;
    double *share = s->share;
    int32_t *order = s->order;
    for (int32_t g = 0; g < groups; g++) {
        int32_t mass = 0;
        for (int32_t k = 0; k < classes; k++)
            mass += here[(int64_t)g * classes + k];
        share[g] = here[(int64_t)g * classes + direction] / (mass ? mass : TOLERANCE);
        order[g] = g;
    }
    for (int32_t gap = 1; gap < groups; gap *= 2) /* merged from the bottom up, which is stable */
        for (int32_t low = 0; low + gap < groups; low += 2 * gap) {
            int32_t high = low + 2 * gap < groups ? low + 2 * gap : groups, i = low, j = low + gap, *out = s->near;
            while (i < low + gap || j < high)
                *out++ = j == high || (i < low + gap && share[order[i]] <= share[order[j]]) ? order[i++] : order[j++];
            memcpy(order + low, s->near, (size_t)(high - low) * sizeof *order);
            memset(s->near, 0, (size_t)(high - low) * sizeof *order);
        }
}

static void ranked(Looking *l, int32_t column, int32_t direction)
{
    const Table *t = l->s->table;
    const int32_t classes = t->classes, groups = t->first_group[column + 1] - t->first_group[column];
    const int32_t *here = column_counts(l->s, l->seen, column);
    int32_t *left = l->s->line;
    rank(l->s, here, groups, direction);
    memset(left, 0, (size_t)classes * sizeof *left);
    for (int32_t place = 0; place < groups; place++) {
        const int32_t *one = here + (int64_t)l->s->order[place] * classes;
        int32_t any = 0;
        for (int32_t i = 0; i < l->s->some; i++) {
            const int32_t k = l->s->present[i];
            left[k] += one[k];
            any |= one[k];
        }
        if (any)
            offer(l, left, (Offer){0, RANKED, column, place, direction});
    }
}

/* The best tests of a node, of all columns or of one, best first; ``finite`` then tells which columns have one. */
int offers(Search *s, Seen *seen, int impurity, int32_t only, Offer *top, int most)
{
    const Table *t = s->table;
    const int two = t->classes <= 2;
    const int32_t first = only < 0 ? 0 : only, last = only < 0 ? t->columns : only + 1;
    Looking l = {s, seen, 0, impurity, most, 0, top};
    for (int32_t k = 0; k < t->classes; k++)
        l.all += seen->counts[k];
    note_labels(s, seen->counts);
    memset(s->finite, 0, (size_t)t->columns);
    search_work(s, t->width + (seen->table ? 0 : (int64_t)seen->count * (last - first)));
    if (t->ones && t->classes == 2) {
        two_groups(&l, first, last);
        return l.found;
    }
    for (int32_t c = first; c < last; c++)
        if (t->ordered[t->chosen[c]])
            (t->classes == 2 ? two_thresholds : thresholds)(&l, c);
    for (int32_t c = first; c < last; c++)
        if (!t->ordered[t->chosen[c]])
            singles(&l, c);
    for (int32_t c = first; c < last; c++) {
        int32_t groups = t->first_group[c + 1] - t->first_group[c];
        if (!t->ordered[t->chosen[c]] && groups > 3 && groups <= ALL_SUBSETS && !two)
            subsets(&l, c);
    }
    const int32_t looks = t->classes < MANY ? t->classes : MANY * MANY / t->classes;
    const int32_t directions = two || !looks ? 1 : looks;
    for (int32_t k = 0; k < directions; k++)
        for (int32_t c = first; c < last; c++) {
            int32_t groups = t->first_group[c + 1] - t->first_group[c];
            if (!t->ordered[t->chosen[c]] && groups > 3 && (two || groups > ALL_SUBSETS))
                ranked(&l, c, k);
        }
    return l.found;
}
