# PLACEHOLDER, not the real script.
# It would compile MIGraphX against TheRock into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-MigraphxFromSource.ps1 is a placeholder'
exit 1
