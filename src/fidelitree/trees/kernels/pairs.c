/* How often two bits are set in the same rows, for all pairs of lines of bits at once.

   The twin is the product of matrices in fidelitree.spaces.dependence. */

#include "kernels.h"

enum { PLANES, COUNTS, ARGUMENTS };
enum { TILE = 32 }; /* lines on either side of a tile, which stays in the nearest cache */

/* Processors that count the bits of eight words at once are worth a copy of their own: counts are whole numbers. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define COUNTING __attribute__((target_clones("arch=icelake-server", "popcnt", "default")))
#else
#define COUNTING CLONES
#endif

static const Wanted pairs_wanted[] = {{"planes", 'u', 8, 2, 0}, {"counts", 'i', 4, 2, 1}};

/* Adds the counts of lines ``first`` to ``last`` - 1, each with itself and all lines after it. */
COUNTING static void add_pairs(const Array *a, Py_ssize_t first, Py_ssize_t last)
{
    const Py_ssize_t lines = a[PLANES].shape[0], words = a[PLANES].shape[1];
    const uint64_t *planes = a[PLANES].data;
    int32_t *counts = a[COUNTS].data;
    for (Py_ssize_t right = first - first % TILE; right < lines; right += TILE) {
        const Py_ssize_t end = right + TILE < lines ? right + TILE : lines;
        for (Py_ssize_t i = first; i < last; i++) {
            const uint64_t *one = planes + i * words;
            for (Py_ssize_t j = right > i ? right : i; j < end; j++) {
                const uint64_t *two = planes + j * words;
                int64_t both = 0;
                for (Py_ssize_t word = 0; word < words; word++)
                    both += __builtin_popcountll(one[word] & two[word]);
                int32_t *sum = counts + i * lines + j; /* a stranger's may be near its end: it goes on from the other */
                *sum = (int32_t)((uint32_t)*sum + (uint32_t)both);
            }
        }
    }
}

static PyObject *count_pairs(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS];
    Array a[ARGUMENTS];
    Py_ssize_t first, last;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOnn", &given[PLANES], &given[COUNTS], &first, &last)
        || arrays_take(given, pairs_wanted, a, ARGUMENTS) < 0)
        return NULL;
    const Py_ssize_t lines = a[PLANES].shape[0];
    const char *problem = NULL;
    if (a[COUNTS].shape[0] != lines || a[COUNTS].shape[1] != lines)
        problem = "counts must have a line and a column for each line of planes";
    else if (first < 0 || first > last || last > lines)
        problem = "first and last must be lines of planes";
    else {
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t tile = first; tile < last; tile += TILE)
            add_pairs(a, tile, tile + TILE < last ? tile + TILE : last);
        Py_END_ALLOW_THREADS
    }
    arrays_release(a, ARGUMENTS);
    if (problem) {
        PyErr_SetString(PyExc_ValueError, problem);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef pairs_methods[] = {
    {"count_pairs", count_pairs, METH_VARARGS,
     "count_pairs(planes, counts, first, last)\nAdds to each line of counts, from first to last - 1, how many bits a "
     "line of planes shares with itself and with each line after it."},
    {NULL, NULL, 0, NULL},
};
