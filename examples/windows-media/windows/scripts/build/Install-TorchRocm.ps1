# PLACEHOLDER, not the real script.
# It would install the wheels of -Wheels into the application and verify it again.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-TorchRocm.ps1 is a placeholder'
exit 1
