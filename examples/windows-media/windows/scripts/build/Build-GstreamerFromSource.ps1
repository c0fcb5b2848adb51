# PLACEHOLDER, not the real script.
# It would compile GStreamer with its plugins for FFmpeg, OpenCV, ONNX Runtime and LiteRT into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsOrtProvenance.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsGstPlugins.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsMeson.Common.psm1"

Write-Error 'Build-GstreamerFromSource.ps1 is a placeholder'
exit 1
