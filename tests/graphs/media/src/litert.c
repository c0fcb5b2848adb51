#include "media.h"

EXPORT const char litert_version[] = "litert " VERSION;

EXPORT int litert_invoke(int x) { return x * x; }
