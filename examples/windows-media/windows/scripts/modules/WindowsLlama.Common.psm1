# PLACEHOLDER, not the real module: the checks of a llama.cpp directory.

throw 'WindowsLlama.Common.psm1 is a placeholder'
