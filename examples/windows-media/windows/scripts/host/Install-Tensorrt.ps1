# PLACEHOLDER, not the real script.
# It would unpack the archive of TensorRT in -Archive into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Tensorrt.ps1 is a placeholder'
exit 1
