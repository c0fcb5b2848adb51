# PLACEHOLDER, not the real script.
# It would compile LLVM with our patches into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-LlvmFromSource.ps1 is a placeholder'
exit 1
