#include "media.h"

EXPORT const char llama_cpu_version[] = "llama-cpu " VERSION;

EXPORT int llama_eval(int x) { return x + 13; }
