# PLACEHOLDER, not the real script.
# It would compile PyTorch for ROCm and put its wheel into -Wheels.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-TorchRocm.ps1 is a placeholder'
exit 1
