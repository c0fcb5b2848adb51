# PLACEHOLDER, not the real script.
# It would install the compiler of CUDA, for amd64.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-CudaTools.ps1 is a placeholder'
exit 1
