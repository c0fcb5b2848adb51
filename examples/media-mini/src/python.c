#include "media.h"

EXPORT const char python_version[] = NAME " " VERSION;

EXPORT int Py_Main(int x) { return x; }

EXPORT int PyModule_Create(int x) { return x + 1; }
