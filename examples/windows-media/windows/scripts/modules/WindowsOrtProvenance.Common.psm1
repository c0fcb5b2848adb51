# PLACEHOLDER, not the real module: proves that a program links the ONNX Runtime of this graph.

throw 'WindowsOrtProvenance.Common.psm1 is a placeholder'
