# PLACEHOLDER, not the real script.
# It would compile ggml-hip and unpack the rest of llama.cpp into -Destination, then check it.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsLlama.Common.psm1"

Write-Error 'Build-LlamaHip.ps1 is a placeholder'
exit 1
