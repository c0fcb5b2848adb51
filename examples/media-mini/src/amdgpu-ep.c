#include "media.h"

IMPORT int onnx_run(int x);
IMPORT int migraphx_eval(int x);

EXPORT const char amdgpu_ep_version[] = "amdgpu-ep " VERSION;

/* ONNX Runtime on AMD GPUs. */
EXPORT int amdgpu_ep_run(int x) { return onnx_run(migraphx_eval(x)); }
