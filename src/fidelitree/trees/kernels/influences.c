/* How often a change of each feature changes the label, from a truth table of 64 inputs to a word.

   Words are compared in pairs: two words that differ in a slot outside them, or, for a slot inside, neighbours of which
   each leaves the other half its places. The mass of a word's set bits is looked up byte by byte. The twin is in
   exact/truthtable.py; sums are made in its order: bits and bytes in pairs, words of a block in four lanes, blocks one
   by one. */

#include "kernels.h"

enum { PLANES, BIASES, HIGH, OUT, ARGUMENTS };
enum { INSIDE = 6, BITS = 64, OCTETS = 8, BYTES = 256, LANES = 4, LOW = 6, BLOCK = 64, MOST = 46 };

static const Wanted influences_wanted[] = {
    {"planes", 'u', 8, 2, 0}, {"biases", 'f', 8, 1, 0}, {"high", 'f', 8, 1, 1}, {"out", 'f', 8, 1, 1},
};

static const uint64_t LOWER[INSIDE] = {
    0x5555555555555555u, 0x3333333333333333u, 0x0F0F0F0F0F0F0F0Fu,
    0x00FF00FF00FF00FFu, 0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu,
};

typedef struct {
    const uint64_t *planes;
    const double *biases;
    double *high;
    Py_ssize_t digits, words;
    int slots;
} Table;

/* Masses of all positions of some slots, the first slot changing fastest. */
static void combine(const double *biases, Py_ssize_t slots, double *masses)
{
    masses[0] = 1;
    for (Py_ssize_t slot = 0; slot < slots; slot++)
        for (Py_ssize_t k = 0, count = (Py_ssize_t)1 << slot; k < count; k++) {
            masses[count + k] = biases[slot] * masses[k];
            masses[k] = (1 - biases[slot]) * masses[k];
        }
}

static double two_bits(const double *masses, int value)
{
    return (value & 2 ? masses[1] : 0) + (value & 1 ? masses[0] : 0);
}

/* The mass of every value of each byte of a word. A slot inside lends its place to the first slot outside. */
static void fill_octets(const Table *table, int slot, double *octets)
{
    double biases[INSIDE], masses[BITS], half[2][16];
    memcpy(biases, table->biases, sizeof biases);
    if (slot < INSIDE)
        biases[slot] = table->biases[INSIDE];
    combine(biases, INSIDE, masses);
    for (int byte = 0; byte < OCTETS; byte++) {
        for (int nibble = 0; nibble < 32; nibble++) {
            const double *four = masses + 8 * byte + (nibble >= 16 ? 4 : 0);
            half[nibble >> 4][nibble & 15] = two_bits(four + 2, nibble >> 2) + two_bits(four, nibble);
        }
        for (int value = 0; value < BYTES; value++)
            octets[byte * BYTES + value] = half[1][value >> 4] + half[0][value & 15];
    }
}

/* Where the two values of a slot get different labels, for some pairs of words: of one inside them, ... */
static inline void differ_inside(const uint64_t *restrict plane, int slot, Py_ssize_t count, uint64_t *restrict apart)
{
    int shift = 1 << slot;
    for (Py_ssize_t k = 0; k < count; k++) {
        uint64_t one = plane[2 * k] ^ plane[2 * k] >> shift, two = plane[2 * k + 1] ^ plane[2 * k + 1] >> shift;
        apart[k] |= (one & LOWER[slot]) | (two & LOWER[slot]) << shift;
    }
}

/* ... and of one outside, whose values are ``step`` words apart. */
static inline void differ(const uint64_t *restrict plane, Py_ssize_t step, Py_ssize_t count, uint64_t *restrict apart)
{
    for (Py_ssize_t k = 0; k < count; k++) {
        Py_ssize_t w = k + (k & -step);
        apart[k] |= plane[w] ^ plane[w + step];
    }
}

/* Bytes are read from memory: shifts cost two and a half times as much where a compiler does not see through them. */
static inline double mass(const double *octets, const uint64_t *word)
{
    const unsigned char *byte = (const unsigned char *)word;
    const double *o = octets;
    return ((o[byte[0]] + o[BYTES + byte[1]]) + (o[2 * BYTES + byte[2]] + o[3 * BYTES + byte[3]]))
           + ((o[4 * BYTES + byte[4]] + o[5 * BYTES + byte[5]]) + (o[6 * BYTES + byte[6]] + o[7 * BYTES + byte[7]]));
}

/* The masses of the pairs' places: of those in a block, and of blocks. One slot outside is taken by the pairs. */
static void weigh_pairs(const Table *table, int slot, double *low)
{
    double others[MOST];
    int taken = slot < INSIDE ? INSIDE : slot, count = 0;
    for (int other = INSIDE; other < table->slots; other++)
        if (other != taken)
            others[count++] = table->biases[other];
    int few = count < LOW ? count : LOW;
    combine(others, few, low);
    combine(others + few, count - few, table->high);
}

static double change(const Table *table, int slot, const double *octets)
{
    Py_ssize_t pairs = table->words / 2, count = pairs < BLOCK ? pairs : BLOCK;
    Py_ssize_t step = slot < INSIDE ? 1 : (Py_ssize_t)1 << (slot - INSIDE);
    uint64_t apart[BLOCK];
    double low[BLOCK], sum = 0;
    weigh_pairs(table, slot, low);
    for (Py_ssize_t first = 0; first < pairs; first += count) {
        Py_ssize_t start = first + (first & -step);
        memset(apart, 0, sizeof apart);
        for (Py_ssize_t d = 0; d < table->digits; d++)
            if (slot < INSIDE)
                differ_inside(table->planes + d * table->words + start, slot, count, apart);
            else
                differ(table->planes + d * table->words + start, step, count, apart);
        double one = 0, two = 0, three = 0, four = 0;
        for (Py_ssize_t k = 0; k < count; k += LANES) {
            one += mass(octets, apart + k) * low[k];
            two += mass(octets, apart + k + 1) * low[k + 1];
            three += mass(octets, apart + k + 2) * low[k + 2];
            four += mass(octets, apart + k + 3) * low[k + 3];
        }
        sum += ((one + two) + (three + four)) * table->high[first / count];
    }
    return sum;
}

static PyObject *changes(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS];
    Array a[ARGUMENTS];
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3])
        || arrays_take(given, influences_wanted, a, ARGUMENTS) < 0)
        return NULL;
    Py_ssize_t words = a[PLANES].shape[1], slots = a[OUT].length;
    int sound = a[PLANES].shape[0] >= 1 && slots >= INSIDE + 3 && slots < MOST && a[BIASES].length == slots
                && words == (Py_ssize_t)1 << (slots - INSIDE)
                && a[HIGH].length == (words > 2 * BLOCK ? words / (2 * BLOCK) : 1);
    if (sound) {
        Py_BEGIN_ALLOW_THREADS
        const Table table = {a[PLANES].data, a[BIASES].data, a[HIGH].data, a[PLANES].shape[0], words, (int)slots};
        double octets[OCTETS * BYTES];
        for (int slot = 0; slot < slots; slot++) {
            if (slot <= INSIDE)
                fill_octets(&table, slot, octets);
            ((double *)a[OUT].data)[slot] = change(&table, slot, octets);
        }
        Py_END_ALLOW_THREADS
    }
    arrays_release(a, ARGUMENTS);
    if (!sound) {
        PyErr_SetString(PyExc_ValueError, "planes must have 2^(slots - 6) words, high a number for each 128 of them, "
                                          "biases and out one for each slot");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef influences_methods[] = {
    {"changes", changes, METH_VARARGS,
     "changes(planes, biases, high, out)\n"
     "For every slot of a truth table the mass of the other slots at which its two values get different labels; high is "
     "written over."},
    {NULL, NULL, 0, NULL},
};
