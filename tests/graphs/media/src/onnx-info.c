#include "media.h"

IMPORT int onnx_run(int x);

int start(void) { return onnx_run(2); }
