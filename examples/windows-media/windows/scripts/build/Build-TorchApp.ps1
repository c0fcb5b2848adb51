# PLACEHOLDER, not the real script.
# It would install the application and the wheels of the store with uv.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Build-TorchApp.ps1 is a placeholder'
exit 1
