/* What the kernels' files share: arrays that are checked at the boundary, and the list of families.

   A family is one file: NAME.c defines NAME_methods. Every kernel checks its arguments completely before it touches
   them, releases the global lock while it works, and does a bounded piece of work in one call: its caller in Python
   looks at the clock and at Ctrl-C between two calls. */

#ifndef FIDELITREE_KERNELS_H
#define FIDELITREE_KERNELS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>

#define FAMILIES(FAMILY) \
    FAMILY(bits) \
    FAMILY(columns) \
    FAMILY(curves) \
    FAMILY(influences) \
    FAMILY(pairs) \
    FAMILY(predict) \
    FAMILY(steps) \
    FAMILY(tables)

#define DECLARE(name) extern PyMethodDef name##_methods[];
FAMILIES(DECLARE)

/* Copies of a function for processors with wider vectors and a popcount; the same operations in the same order. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__)
#define CLONES __attribute__((target_clones("avx2", "popcnt", "default")))
#else
#define CLONES
#endif

/* An array argument: C-contiguous, with so many axes, of one kind ('f' float, 'i' signed, 'u' unsigned, 'b' bool)
   and size of entry. */
typedef struct {
    Py_buffer view;
    void *data;
    Py_ssize_t length; /* entries of all axes */
    Py_ssize_t shape[2];
} Array;

typedef struct {
    const char *name;
    char kind;
    int size;
    int axes;
    int writable;
} Wanted;

/* Takes ``count`` array arguments as they are wanted; on failure (-1, with an exception) none is held. */
int arrays_take(PyObject *const *given, const Wanted *wanted, Array *arrays, int count);
void arrays_release(Array *arrays, int count);

#endif
