#include "media.h"

EXPORT const char litert_lm_version[] = "litert-lm " VERSION;

EXPORT int litert_lm_decode(int x) { return x * 5; }
