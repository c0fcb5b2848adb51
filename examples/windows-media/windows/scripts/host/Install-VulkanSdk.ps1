# PLACEHOLDER, not the real script.
# It would install the Vulkan SDK with its component for arm64 into -Destination, from the mirror where there is one.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-VulkanSdk.ps1 is a placeholder'
exit 1
