# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: the provider for WebGPU is there where the spikes are on, and nothing of it where they are off.

Write-Error 'OrtWebGpu.ps1 is a placeholder'
exit 1
