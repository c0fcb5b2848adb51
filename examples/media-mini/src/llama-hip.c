#include "media.h"

EXPORT const char llama_hip_version[] = "llama-hip " VERSION;

EXPORT int llama_hip_eval(int x) { return x + 11; }
