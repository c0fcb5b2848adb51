# PLACEHOLDER, not the real script.
# It would copy the run-time libraries of Visual Studio for the target into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Copy-VsRuntime.ps1 is a placeholder'
exit 1
