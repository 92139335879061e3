/* How often a change of each feature changes the label, from a truth table of 64 inputs to a word.

   The mass of a word's set bits is looked up byte by byte, that of the word's own place is given. The twin is in
   exact/truthtable.py; sums are made in its order: bytes in pairs, words in four lanes. */

#include "kernels.h"

enum { PLANES, OCTET_MASSES, PLACES, OUT, ARGUMENTS };
enum { INSIDE = 6, LANES = 4, OCTETS = 8 };

static const Wanted influences_wanted[] = {
    {"planes", 'u', 8, 2, 0}, {"octets", 'f', 8, 2, 0}, {"places", 'f', 8, 1, 0}, {"out", 'f', 8, 1, 1},
};

static const uint64_t LOWER[INSIDE] = {
    0x5555555555555555u, 0x3333333333333333u, 0x0F0F0F0F0F0F0F0Fu,
    0x00FF00FF00FF00FFu, 0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu,
};

static inline double mass(const double *octets, uint64_t word)
{
    double part[OCTETS];
    for (int k = 0; k < OCTETS; k++)
        part[k] = octets[k * 256 + (int)(word >> 8 * k & 255)];
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

typedef struct {
    const uint64_t *planes;
    const double *octets, *places;
    Py_ssize_t digits, words;
} Table;

/* A slot inside a word: both positions of a pair are set where they differ. */
static inline double inside(const Table *table, Py_ssize_t digits, int slot, Py_ssize_t w)
{
    uint64_t apart = 0;
    for (Py_ssize_t d = 0; d < digits; d++) {
        uint64_t word = table->planes[d * table->words + w];
        apart |= word ^ word >> (1 << slot);
    }
    apart &= LOWER[slot];
    return mass(table->octets, apart | apart << (1 << slot)) * table->places[w];
}

/* A slot outside: two words are compared; ``pair`` counts them. */
static inline double outside(const Table *table, Py_ssize_t digits, int slot, Py_ssize_t pair)
{
    Py_ssize_t step = (Py_ssize_t)1 << slot, w = pair + (pair & -step);
    uint64_t apart = 0;
    for (Py_ssize_t d = 0; d < digits; d++)
        apart |= table->planes[d * table->words + w] ^ table->planes[d * table->words + w + step];
    return mass(table->octets, apart) * (table->places[w] + table->places[w + step]);
}

static inline double change(const Table *table, Py_ssize_t digits, int slot)
{
    double one = 0, two = 0, three = 0, four = 0;
    if (slot < INSIDE)
        for (Py_ssize_t w = 0; w < table->words; w += LANES) {
            one += inside(table, digits, slot, w);
            two += inside(table, digits, slot, w + 1);
            three += inside(table, digits, slot, w + 2);
            four += inside(table, digits, slot, w + 3);
        }
    else
        for (Py_ssize_t pair = 0; pair < table->words / 2; pair += LANES) {
            one += outside(table, digits, slot - INSIDE, pair);
            two += outside(table, digits, slot - INSIDE, pair + 1);
            three += outside(table, digits, slot - INSIDE, pair + 2);
            four += outside(table, digits, slot - INSIDE, pair + 3);
        }
    return (one + two) + (three + four);
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
    int sound = a[PLANES].shape[0] >= 1 && slots >= INSIDE + 3 && slots < INSIDE + 40
                && words == (Py_ssize_t)1 << (slots - INSIDE) && a[PLACES].length == words
                && a[OCTET_MASSES].shape[0] == OCTETS && a[OCTET_MASSES].shape[1] == 256;
    if (sound) {
        Py_BEGIN_ALLOW_THREADS
        const Table table = {a[PLANES].data, a[OCTET_MASSES].data, a[PLACES].data, a[PLANES].shape[0], words};
        for (int slot = 0; slot < slots; slot++) /* two labels, the usual case, have a copy of their own */
            ((double *)a[OUT].data)[slot] =
                table.digits == 1 ? change(&table, 1, slot) : change(&table, table.digits, slot);
        Py_END_ALLOW_THREADS
    }
    arrays_release(a, ARGUMENTS);
    if (!sound) {
        PyErr_SetString(PyExc_ValueError, "planes must have 2^(slots - 6) words, each with its place's mass, and octets "
                                          "8 tables of 256 masses");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef influences_methods[] = {
    {"changes", changes, METH_VARARGS,
     "changes(planes, octets, places, out)\n"
     "For every slot of a truth table the mass of the other slots at which its two values get different labels."},
    {NULL, NULL, 0, NULL},
};
