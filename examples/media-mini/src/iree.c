#include "media.h"

EXPORT const char iree_version[] = "iree " VERSION;

EXPORT int iree_invoke(int x) { return x << 2; }
