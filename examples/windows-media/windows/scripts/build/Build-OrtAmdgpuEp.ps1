# PLACEHOLDER, not the real script.
# It would compile the execution provider for MIGraphX against -OnnxRuntime and -Migraphx into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsOrtProvenance.Common.psm1"

Write-Error 'Build-OrtAmdgpuEp.ps1 is a placeholder'
exit 1
