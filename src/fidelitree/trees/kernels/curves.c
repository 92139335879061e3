/* The least sums of two curves for every number of leaves: the twin of fidelitree.trees.curve.min_plus. */

#include "kernels.h"

enum { BEST, ONE, TWO, SHARE, ARGUMENTS };

static const Wanted curves_wanted[] = {
    {"best", 'f', 8, 2, 1}, {"one", 'f', 8, 2, 0}, {"two", 'f', 8, 2, 0}, {"share", 'i', 8, 2, 1},
};

/* Lowers one line, whose entry i + j + 1 belongs to the sum of entries i and j. */
static void lower(double *best, const double *one, const double *two, const Py_ssize_t *width)
{
    for (Py_ssize_t i = 0; i < width[ONE] && i + 1 < width[BEST]; i++) {
        const Py_ssize_t left = width[BEST] - i - 1, most = width[TWO] < left ? width[TWO] : left;
        double *restrict sums = best + i + 1;
        for (Py_ssize_t j = 0; j < most; j++)
            sums[j] = one[i] + two[j] < sums[j] ? one[i] + two[j] : sums[j];
    }
}

/* The same, where what is lower by more than the slack says which i it came from. */
static void lower_and_tell(double *best, const double *one, const double *two, int64_t *share, const Py_ssize_t *width,
                           double slack)
{
    for (Py_ssize_t i = 0; i < width[ONE] && i + 1 < width[BEST]; i++)
        for (Py_ssize_t j = 0; j < width[TWO] && i + j + 1 < width[BEST]; j++)
            if (one[i] + two[j] < best[i + j + 1] - slack) {
                best[i + j + 1] = one[i] + two[j];
                share[i + j + 1] = i + 1;
            }
}

static PyObject *min_plus(PyObject *module, PyObject *args)
{
    PyObject *given[ARGUMENTS];
    Array a[ARGUMENTS];
    Py_ssize_t width[ARGUMENTS];
    double slack;
    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOd", &given[BEST], &given[ONE], &given[TWO], &given[SHARE], &slack))
        return NULL;
    const int count = given[SHARE] == Py_None ? SHARE : ARGUMENTS;
    if (arrays_take(given, curves_wanted, a, count) < 0)
        return NULL;
    int sound = 1;
    for (int i = 0; i < count; i++) {
        width[i] = a[i].shape[1];
        sound = sound && a[i].shape[0] == a[BEST].shape[0];
    }
    sound = sound && (count == SHARE || width[SHARE] == width[BEST]);
    if (sound) {
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t line = 0; line < a[BEST].shape[0]; line++) {
            double *best = (double *)a[BEST].data + line * width[BEST];
            const double *one = (double *)a[ONE].data + line * width[ONE], *two = (double *)a[TWO].data + line * width[TWO];
            if (count == SHARE)
                lower(best, one, two, width);
            else
                lower_and_tell(best, one, two, (int64_t *)a[SHARE].data + line * width[SHARE], width, slack);
        }
        Py_END_ALLOW_THREADS
    } else
        PyErr_SetString(PyExc_ValueError, "all arrays must have as many lines, and share the width of best");
    arrays_release(a, count);
    if (!sound)
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef curves_methods[] = {
    {"min_plus", min_plus, METH_VARARGS,
     "min_plus(best, one, two, share, slack)\nLower every line of best to the least sums of two lines; share, or None, "
     "receives how many leaves the first of them has."},
    {NULL, NULL, 0, NULL},
};
