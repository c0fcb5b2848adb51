# PLACEHOLDER, not the real script.
# It would download the wheels of PyTorch and pytest for the target into -Destination, by hash.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Copy-WheelStacks.ps1 is a placeholder'
exit 1
