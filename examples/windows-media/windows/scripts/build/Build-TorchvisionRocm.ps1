# PLACEHOLDER, not the real script.
# It would compile torchvision against the PyTorch of the step before and put its wheel into -Wheels.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-TorchvisionRocm.ps1 is a placeholder'
exit 1
