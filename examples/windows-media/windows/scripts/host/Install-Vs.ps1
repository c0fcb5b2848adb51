# PLACEHOLDER, not the real script.
# It would install the Build Tools of Visual Studio with the components for amd64 and arm64.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Vs.ps1 is a placeholder'
exit 1
