#include "media.h"

IMPORT int onnx_run(int x);
IMPORT int ffmpeg_filter(int x);

EXPORT const char opencv_version[] = "opencv " VERSION;

EXPORT int opencv_capture(int frame) { return ffmpeg_filter(frame) + onnx_run(frame); }
