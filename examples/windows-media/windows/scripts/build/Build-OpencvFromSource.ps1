# PLACEHOLDER, not the real script.
# It would compile OpenCV and its Python module against FFmpeg and ONNX Runtime into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsOrtProvenance.Common.psm1"

Write-Error 'Build-OpencvFromSource.ps1 is a placeholder'
exit 1
