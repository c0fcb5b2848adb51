# PLACEHOLDER, not the real script.
# It would pack -Bundle into a zip in -Destination, and write SHA256SUMS: of the zip, and of the archive with CUDA's run time.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Pack-Release.ps1 is a placeholder'
exit 1
