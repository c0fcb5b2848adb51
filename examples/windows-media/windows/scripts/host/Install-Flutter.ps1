# PLACEHOLDER, not the real script.
# It would unpack Flutter into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Flutter.ps1 is a placeholder'
exit 1
