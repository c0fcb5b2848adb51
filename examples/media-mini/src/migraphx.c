#include "media.h"

EXPORT const char migraphx_version[] = "migraphx " VERSION;

EXPORT int migraphx_eval(int x) { return x * 9; }
