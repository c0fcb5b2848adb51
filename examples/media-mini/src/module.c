#include "media.h"

IMPORT int PyModule_Create(int x);

/* INIT is the one function that Python looks for. */
EXPORT int INIT(void) { return PyModule_Create(2); }
