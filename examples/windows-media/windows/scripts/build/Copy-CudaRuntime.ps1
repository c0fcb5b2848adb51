# PLACEHOLDER, not the real script.
# It would copy the DLLs of CUDA and cuDNN that applications need into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Copy-CudaRuntime.ps1 is a placeholder'
exit 1
