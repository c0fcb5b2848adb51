#include "media.h"

EXPORT const char onnx_version[] = "onnx " VERSION;

EXPORT int onnx_run(int x) { return 3 * x + 1; }
