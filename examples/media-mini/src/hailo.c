#include "media.h"

EXPORT const char hailo_version[] = "hailo " VERSION;

EXPORT int hailo_infer(int x) { return x - 8; }
