# PLACEHOLDER, not the real script.
# It would compile IREE and its wheels into -Destination; for arm64 the run time alone, with tools of the host.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsTvm.Common.psm1"

Write-Error 'Build-Iree.ps1 is a placeholder'
exit 1
