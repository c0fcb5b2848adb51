# PLACEHOLDER, not the real script.
# It would compile ONNX Runtime with its providers and wheels into -Destination.
# It runs free-threaded-wheel.py for the twins without a GIL.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-OnnxFromSource.ps1 is a placeholder'
exit 1
