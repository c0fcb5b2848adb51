# PLACEHOLDER, not the real module: chooses the LLVM that TVM and IREE link.

throw 'WindowsTvm.Common.psm1 is a placeholder'
