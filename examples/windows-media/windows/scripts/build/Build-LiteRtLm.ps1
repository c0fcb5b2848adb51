# PLACEHOLDER, not the real script.
# It would compile LiteRT-LM with Bazel into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-LiteRtLm.ps1 is a placeholder'
exit 1
