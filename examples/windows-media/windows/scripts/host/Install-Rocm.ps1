# PLACEHOLDER, not the real script.
# It would unpack TheRock into -Destination; refuse an image that has CUDA or ROCm.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Rocm.ps1 is a placeholder'
exit 1
