#include "media.h"

IMPORT int onnx_run(int x);

EXPORT const char genai_version[] = "genai " VERSION;

EXPORT int genai_generate(int x) { return onnx_run(x) + 7; }
