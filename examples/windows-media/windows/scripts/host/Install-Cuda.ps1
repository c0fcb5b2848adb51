# PLACEHOLDER, not the real script.
# It would install CUDA and unpack cuDNN, after their hashes were compared.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Cuda.ps1 is a placeholder'
exit 1
