# PLACEHOLDER, not the real script.
# It would install CMake, Clang, Ninja, NASM, Git and WiX.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-ScoopTools.ps1 is a placeholder'
exit 1
