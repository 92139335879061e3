/* Better tests for a tree of the same shape: the twin of fidelitree.search.local.polish. */

#include "tables.h"
#include <string.h>

static int32_t code_of(const Search *s, int32_t node, int32_t row)
{
    const Node *nodes = s->arena.nodes;
    while (nodes[node].test.feature >= 0)
        node = passes(s, nodes[node].test, row) ? nodes[node].yes : nodes[node].no;
    return nodes[node].code;
}

/* The rows of a node that exactly one side gets right, and whether that is the yes side. */
static int32_t caring(Search *s, int32_t node, const int32_t *rows)
{
    Node here = s->arena.nodes[node];
    int32_t count = 0;
    search_work(s, 4 * (int64_t)(here.end - here.begin));
    for (int32_t i = here.begin; i < here.end; i++) {
        int32_t row = rows[i], code = s->table->codes[row];
        int no = code_of(s, here.no, row) == code, yes = code_of(s, here.yes, row) == code;
        s->care[count] = row;
        s->right[count] = (uint8_t)yes;
        count += no != yes;
    }
    return count;
}

/* The best threshold of a feature, bin by bin, the first among equals. */
static int32_t best_cut(Search *s, int32_t feature, int32_t count, int64_t *value)
{
    const uint16_t *column = s->table->bins + (int64_t)feature * s->table->rows;
    int32_t last = 0, best = 0;
    int64_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t bin = column[s->care[i]];
        s->near[bin] += s->right[i] ? 1 : -1;
        last = bin > last ? bin : last;
    }
    *value = s->near[0];
    for (int32_t bin = 0; bin <= last; bin++) {
        sum += s->near[bin];
        if (sum > *value) {
            *value = sum;
            best = bin;
        }
    }
    memset(s->near, 0, ((size_t)last + 1) * sizeof *s->near);
    return best;
}

/* The test whose yes side gains most, with its gain; a feature of -1 where there is none. */
static Test best_test(Search *s, int32_t count, int32_t *table, int64_t *value)
{
    const Table *t = s->table;
    int64_t most = INT64_MIN, taken = -1;
    int32_t best = -1, other = -1;
    memset(table, 0, (size_t)t->width * sizeof *table);
    search_work(s, (int64_t)count * t->columns + t->width);
    for (int32_t i = 0; i < count; i++) {
        const uint16_t *key = t->keys + (int64_t)s->care[i] * t->columns;
        int32_t gain = s->right[i] ? 1 : -1;
        for (int32_t c = 0; c < t->columns; c++)
            table[t->first_group[c] + key[c]] += gain;
    }
    for (int32_t c = 0; c < t->columns; c++) {
        int64_t sum = 0;
        int order = t->ordered[t->chosen[c]];
        for (int32_t g = t->first_group[c]; g < t->first_group[c + 1]; g++) {
            sum += order || table[g] > 0 ? table[g] : 0;
            if (order && sum > most)
                most = sum, best = c;
        }
        if (!order && sum > taken)
            taken = sum, other = c;
    }
    if (other >= 0 && taken > (most > 0 ? most : 0)) {
        Test test = {t->chosen[other], -1, new_set(s)};
        for (int32_t g = 0; g < t->first_group[other + 1] - t->first_group[other]; g++)
            s->arena.sets[test.set + (g >> 6)] |= (uint64_t)(table[t->first_group[other] + g] > 0) << (g & 63);
        *value = taken;
        return test;
    }
    if (best < 0)
        return (Test){-1, -1, -1};
    Test test = {t->chosen[best], 0, -1};
    test.cut = best_cut(s, test.feature, count, value);
    return test;
}

/* The node with its best test, given its sides. */
static int32_t retest(Search *s, int32_t node, int32_t *rows)
{
    Node here = s->arena.nodes[node];
    int32_t count = caring(s, node, rows);
    if (!count) {
        int32_t side = s->arena.nodes[here.yes].leaves < s->arena.nodes[here.no].leaves ? here.yes : here.no;
        return refit(s, side, rows, here.begin, here.end, counts_of(s, node));
    }
    int64_t now = 0, value = 0;
    for (int32_t i = 0; i < count; i++)
        if (passes(s, here.test, s->care[i]))
            now += s->right[i] ? 1 : -1;
    int32_t *table = buffer_get(s);
    Test test = best_test(s, count, table, &value);
    buffer_put(s, table);
    if (test.feature < 0 || value <= now)
        return node;
    test = centred(s, test, s->care, count);
    return refit_below(s, test, here.no, here.yes, rows, node);
}

int32_t polish(Search *s, int32_t node, int32_t *rows)
{
    Node here = s->arena.nodes[node];
    if (here.test.feature < 0)
        return node;
    int32_t no = polish(s, here.no, rows), yes = polish(s, here.yes, rows);
    Node *now = &s->arena.nodes[node];
    now->no = no, now->yes = yes;
    now->errors = s->arena.nodes[no].errors + s->arena.nodes[yes].errors;
    now->leaves = s->arena.nodes[no].leaves + s->arena.nodes[yes].leaves;
    paying(s, node);
    return s->arena.nodes[node].test.feature < 0 ? node : retest(s, node, rows);
}
