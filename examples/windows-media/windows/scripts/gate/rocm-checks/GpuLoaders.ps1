# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: the loaders of Vulkan and OpenCL load, and AMD is registered with the latter.

Write-Error 'GpuLoaders.ps1 is a placeholder'
exit 1
