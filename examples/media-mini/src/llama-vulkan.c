#include "media.h"

EXPORT const char llama_vulkan_version[] = "llama-vulkan " VERSION;

EXPORT int llama_vulkan_eval(int x) { return x + 13; }
