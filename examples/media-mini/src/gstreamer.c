#include "media.h"

EXPORT const char gstreamer_version[] = "gstreamer " VERSION;

EXPORT int gst_init(int x) { return x; }
