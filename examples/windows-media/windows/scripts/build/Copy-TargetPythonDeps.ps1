# PLACEHOLDER, not the real script.
# It would download what the wheels of -Wheels require into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Copy-TargetPythonDeps.ps1 is a placeholder'
exit 1
