#include "media.h"

EXPORT const char python_version[] = NAME " " VERSION;

/* As libffi has them. */
struct ffi_type {
    unsigned long long size;
    unsigned short alignment, type;
};
EXPORT const struct ffi_type ffi_type_sint32 = {4, 4, 10};
EXPORT const struct ffi_type ffi_type_pointer = {8, 8, 14};

EXPORT int Py_Main(int x) { return x; }

EXPORT int PyModule_Create(int x) { return x + 1; }
