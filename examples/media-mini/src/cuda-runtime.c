#include "media.h"

EXPORT const char cuda_runtime_version[] = "cuda-runtime " VERSION;

EXPORT int cuda_launch(int x) { return x + 32; }
