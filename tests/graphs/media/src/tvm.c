#include "media.h"

EXPORT const char tvm_version[] = "tvm " VERSION ", sdk " SDK_VERSION;

EXPORT int tvm_call(int x) { return x / 3; }
