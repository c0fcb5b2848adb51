# PLACEHOLDER, not the real script.
# It would compile ONNX Runtime GenAI against -OnnxRuntime into -Destination.
# It runs free-threaded-wheel.py for the twins without a GIL.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsOrtProvenance.Common.psm1"

Write-Error 'Build-GenAiFromSource.ps1 is a placeholder'
exit 1
