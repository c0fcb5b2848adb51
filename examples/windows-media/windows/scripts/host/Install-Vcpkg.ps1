# PLACEHOLDER, not the real script.
# It would check out vcpkg and build zlib with it.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Vcpkg.ps1 is a placeholder'
exit 1
