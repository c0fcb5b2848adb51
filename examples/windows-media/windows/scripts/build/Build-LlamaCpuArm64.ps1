# PLACEHOLDER, not the real script.
# It would compile llama.cpp for arm64 with Clang and OpenMP into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Build-LlamaCpuArm64.ps1 is a placeholder'
exit 1
