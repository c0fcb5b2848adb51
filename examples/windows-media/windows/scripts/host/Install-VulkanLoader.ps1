# PLACEHOLDER, not the real script.
# It would put the Vulkan loader into System32 and register it.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-VulkanLoader.ps1 is a placeholder'
exit 1
