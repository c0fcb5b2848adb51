# PLACEHOLDER, not the real script.
# It would unpack Mesa's Vulkan driver for processors into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-Lavapipe.ps1 is a placeholder'
exit 1
