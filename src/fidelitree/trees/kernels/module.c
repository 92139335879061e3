/* The module itself, and array arguments. */

#include "kernels.h"

static int fits(const Py_buffer *view, const Wanted *wanted)
{
    const char *format = view->format ? view->format : "B";
    char kind = 0;
    if (*format == '@' || *format == '=')
        format++;
    switch (*format) {
    case 'f': case 'd': kind = 'f'; break;
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n': kind = 'i'; break;
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N': kind = 'u'; break;
    case '?': kind = 'b'; break;
    }
    return format[0] && !format[1] && kind == wanted->kind && view->itemsize == wanted->size
        && view->ndim == wanted->axes && (uintptr_t)view->buf % (uintptr_t)wanted->size == 0;
}

int arrays_take(PyObject *const *given, const Wanted *wanted, Array *arrays, int count)
{
    for (int i = 0; i < count; i++) {
        Array *array = &arrays[i];
        int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (wanted[i].writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(given[i], &array->view, flags) < 0) {
            arrays_release(arrays, i);
            return -1;
        }
        if (!fits(&array->view, &wanted[i])) {
            PyErr_Format(PyExc_TypeError, "%s must be an aligned array of kind %c, %d bytes an entry, %d axes",
                         wanted[i].name, wanted[i].kind, wanted[i].size, wanted[i].axes);
            arrays_release(arrays, i + 1);
            return -1;
        }
        array->data = array->view.buf;
        array->length = array->view.len / wanted[i].size;
        for (int axis = 0; axis < 2; axis++)
            array->shape[axis] = axis < wanted[i].axes ? array->view.shape[axis] : 1;
    }
    return 0;
}

void arrays_release(Array *arrays, int count)
{
    while (count--)
        PyBuffer_Release(&arrays[count].view);
}

static int add_families(PyObject *module)
{
#define ADD(name) \
    if (PyModule_AddFunctions(module, name##_methods) < 0) \
        return -1;
    FAMILIES(ADD)
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)add_families}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Inner loops of searches and predictions.", 0, NULL, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
