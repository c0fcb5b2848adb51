# PLACEHOLDER, not the real script.
# It would compile LiteRT, its TFLite C library and its wheel into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-LiteRt.ps1 is a placeholder'
exit 1
