# PLACEHOLDER, not the real script.
# It would unpack the libraries of CUDA and cuDNN for arm64 into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-CudaArm64.ps1 is a placeholder'
exit 1
