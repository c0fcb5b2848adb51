#include "media.h"

IMPORT int gst_init(int x);

/* PLUGIN is the function by which GStreamer knows a plugin. */
EXPORT int PLUGIN(int x) { return gst_init(x); }
