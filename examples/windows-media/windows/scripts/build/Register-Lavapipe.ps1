# PLACEHOLDER, not the real script.
# It would write the Vulkan driver that lies in -Driver into the registry.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Register-Lavapipe.ps1 is a placeholder'
exit 1
