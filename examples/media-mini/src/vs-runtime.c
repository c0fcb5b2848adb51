#include "media.h"

EXPORT const char vs_runtime_version[] = "vs-runtime " VERSION;

EXPORT int vcruntime_new(int x) { return x + 16; }
