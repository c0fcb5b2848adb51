#include "media.h"

IMPORT int opencv_capture(int x);
IMPORT int gst_init(int x);

EXPORT const char opencv_gstreamer_version[] = "opencv-gstreamer " VERSION;

/* What OpenCV loads by name when a pipeline is opened. */
EXPORT int opencv_gstreamer_open(int x) { return opencv_capture(gst_init(x)); }
