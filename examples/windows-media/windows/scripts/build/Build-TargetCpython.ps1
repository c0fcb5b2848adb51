# PLACEHOLDER, not the real script.
# It would compile CPython for the target, with -DisableGil without the GIL, into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-TargetCpython.ps1 is a placeholder'
exit 1
