# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: PyTorch is compiled for each card that rocBLAS has kernels for, and the application's ONNX Runtime is ours.

Write-Error 'Torch.ps1 is a placeholder'
exit 1
