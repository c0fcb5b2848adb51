#include "media.h"

IMPORT int onnx_run(int x);

EXPORT const char ffmpeg_version[] = "ffmpeg " VERSION;

/* A filter with a network behind it, as the real one has. */
EXPORT int ffmpeg_filter(int frame) { return onnx_run(frame) ^ 0x55; }
