# PLACEHOLDER, not the real script.
# It would compile ggml-cuda for arm64 with nvcc of the host into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Build-GgmlCudaArm64.ps1 is a placeholder'
exit 1
