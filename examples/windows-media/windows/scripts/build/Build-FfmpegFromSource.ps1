# PLACEHOLDER, not the real script.
# It would compile FFmpeg, dav1d, x264 and x265 against -OnnxRuntime into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsOrtProvenance.Common.psm1"

Write-Error 'Build-FfmpegFromSource.ps1 is a placeholder'
exit 1
