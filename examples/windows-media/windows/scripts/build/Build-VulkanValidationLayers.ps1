# PLACEHOLDER, not the real script.
# It would copy the validation layer of the SDK, or compile it for arm64, into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-VulkanValidationLayers.ps1 is a placeholder'
exit 1
