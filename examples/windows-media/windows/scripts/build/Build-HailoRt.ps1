# PLACEHOLDER, not the real script.
# It would compile HailoRT with its protobuf into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-HailoRt.ps1 is a placeholder'
exit 1
