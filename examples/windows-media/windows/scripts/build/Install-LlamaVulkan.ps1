# PLACEHOLDER, not the real script.
# It would unpack llama.cpp for Vulkan into -Destination, then check it.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsLlama.Common.psm1"

Write-Error 'Install-LlamaVulkan.ps1 is a placeholder'
exit 1
