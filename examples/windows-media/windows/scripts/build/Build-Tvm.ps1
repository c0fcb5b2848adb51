# PLACEHOLDER, not the real script.
# It would compile TVM and its wheels into -Destination; for arm64 the run time alone.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsTvm.Common.psm1"

Write-Error 'Build-Tvm.ps1 is a placeholder'
exit 1
