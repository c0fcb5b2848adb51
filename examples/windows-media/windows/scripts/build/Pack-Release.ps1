# PLACEHOLDER, not the real script.
# It would pack -Bundle into a zip in -Destination, with its digest beside it.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Pack-Release.ps1 is a placeholder'
exit 1
