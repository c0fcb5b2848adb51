# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: OpenCV has OpenCL, loaded when asked, and nothing of ROCm is in it.

Write-Error 'OpenCV.ps1 is a placeholder'
exit 1
