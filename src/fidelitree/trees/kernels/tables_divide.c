/* From a test over groups to the test over bins that divides a node's rows, and the rows divided by it. */

#include "tables.h"
#include <math.h>
#include <string.h>

/* A set without the values that no row here has, or what it leaves out, whichever is smaller. */
static Test tidy(Search *s, Test test, const int32_t *rows, int32_t count)
{
    const uint16_t *column = s->table->bins + (int64_t)test.feature * s->table->rows;
    const int32_t size = s->table->sizes[test.feature];
    int32_t inside = 0, outside = 0;
    for (int32_t i = 0; i < count; i++)
        s->near[column[rows[i]]] = 1;
    uint64_t *set = s->arena.sets + test.set;
    for (int32_t bin = 0; bin < size; bin++)
        if (s->near[bin])
            *(set[bin >> 6] >> (bin & 63) & 1 ? &inside : &outside) += 1;
    int turned = outside < inside;
    for (int32_t bin = 0; bin < size; bin++) {
        int in = (int)(set[bin >> 6] >> (bin & 63) & 1) ^ turned;
        set[bin >> 6] &= ~(UINT64_C(1) << (bin & 63));
        set[bin >> 6] |= (uint64_t)(in && s->near[bin]) << (bin & 63);
        s->near[bin] = 0;
    }
    return test;
}

static Test decoded(Search *s, Offer offer, Seen *seen)
{
    const Table *t = s->table;
    Test test = {t->chosen[offer.column], offer.place, -1};
    if (offer.kind == THRESHOLD)
        return test;
    test.cut = -1;
    test.set = new_set(s);
    uint64_t *set = s->arena.sets + test.set;
    const int32_t groups = t->first_group[offer.column + 1] - t->first_group[offer.column];
    if (offer.kind == SINGLE)
        set[offer.place >> 6] |= UINT64_C(1) << (offer.place & 63);
    else if (offer.kind == SUBSET)
        set[0] = (uint64_t)offer.place;
    else {
        rank(s, column_counts(s, seen, offer.column), groups, offer.direction);
        for (int32_t place = 0; place <= offer.place; place++)
            set[s->order[place] >> 6] |= UINT64_C(1) << (s->order[place] & 63);
    }
    return test;
}

/* The best threshold inside the group of the test and the next one, bin by bin. */
static int32_t sharpened(Search *s, Offer offer, const Seen *seen, int impurity)
{
    const Table *t = s->table;
    const int32_t classes = t->classes, feature = t->chosen[offer.column];
    const uint16_t *column = t->bins + (int64_t)feature * t->rows, *group = t->groups + t->first_bin[offer.column];
    int32_t low = 0, high, *left = s->line, *near = s->near, best, all = 0;
    for (int32_t above = t->sizes[feature]; low < above;) { /* the first bin of the group */
        int32_t half = low + (above - low) / 2;
        if (group[half] >= offer.place)
            above = half;
        else
            low = half + 1;
    }
    for (high = low; high < t->sizes[feature] && group[high] <= offer.place + 1; high++)
        ;
    memset(left, 0, (size_t)classes * sizeof *left);
    for (int32_t k = 0; k < classes; k++)
        all += seen->counts[k];
    for (int32_t i = 0; i < seen->count; i++) {
        int32_t bin = column[seen->rows[i]], code = t->codes[seen->rows[i]];
        if (bin < low)
            left[code]++;
        else if (bin < high)
            near[(int64_t)(bin - low) * classes + code]++;
    }
    double least = INFINITY;
    best = low;
    note_labels(s, seen->counts);
    for (int32_t bin = low; bin < high - 1; bin++) {
        int32_t any = 0;
        for (int32_t i = 0; i < s->some; i++) {
            const int32_t k = s->present[i];
            any |= near[(int64_t)(bin - low) * classes + k];
            left[k] += near[(int64_t)(bin - low) * classes + k];
        }
        if (!any && bin > low)
            continue; /* like the one before */
        double now = score(s, left, seen->counts, all, impurity);
        if (now < least) {
            least = now;
            best = bin;
        }
    }
    memset(near, 0, (size_t)(high - low) * (size_t)classes * sizeof *near);
    return best;
}

/* The test over bins that belongs to a test over groups. */
Test divide(Search *s, Offer offer, Seen *seen, int impurity)
{
    const Table *t = s->table;
    Test test = decoded(s, offer, seen);
    if (test.set >= 0)
        return tidy(s, test, seen->rows, seen->count);
    if (t->first_group[offer.column + 1] - t->first_group[offer.column] < t->sizes[test.feature])
        test.cut = sharpened(s, offer, seen, impurity);
    return centred(s, test, seen->rows, seen->count);
}

/* A threshold that divides the rows the same way, in the middle of its gap by the number of all rows. */
Test centred(Search *s, Test test, const int32_t *rows, int32_t count)
{
    const Table *t = s->table;
    if (test.set >= 0 || t->sizes[test.feature] <= 2) /* of two bins there is no other middle */
        return test;
    const uint16_t *column = t->bins + (int64_t)test.feature * t->rows;
    const int32_t *under = t->under + t->first_bin[t->column_of[test.feature]];
    int32_t low = 0, high = t->sizes[test.feature] - 1;
    for (int32_t i = 0; i < count; i++) {
        int32_t bin = column[rows[i]];
        if (bin <= test.cut)
            low = bin > low ? bin : low;
        else
            high = bin < high ? bin : high;
    }
    if (high - low <= 1)
        return test;
    /* twice the distance from the middle, which falls and then rises */
    int64_t middle = (int64_t)under[low] + under[high - 1];
    int32_t from = low, to = high - 1;
    while (from < to) { /* the first bin at or above the middle */
        int32_t half = from + (to - from) / 2;
        if (2 * (int64_t)under[half] >= middle)
            to = half;
        else
            from = half + 1;
    }
    int32_t best = from;
    if (from > low && middle - 2 * (int64_t)under[from - 1] <= 2 * (int64_t)under[from] - middle)
        best = from - 1;
    while (best > low && under[best - 1] == under[best]) /* the first of equals */
        best--;
    test.cut = best;
    return test;
}

/* Rows that fail the test first, then those that pass; how many fail. */
int32_t part_rows(Search *s, Test test, int32_t *rows, int32_t count)
{
    int32_t no = 0, yes = 0, *spare = s->spare;
    for (int32_t i = 0; i < count; i++) {
        int32_t row = rows[i];
        int up = passes(s, test, row);
        rows[no] = row;
        spare[yes] = row;
        yes += up;
        no += !up;
    }
    memcpy(rows + no, spare, (size_t)yes * sizeof *rows);
    return no;
}
