#include "media.h"

IMPORT int Py_Main(int x);

int start(void) { return Py_Main(0); }
