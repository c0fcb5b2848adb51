# PLACEHOLDER, not the real script.
# It would install Rust, the code generator of the Flutter bridge and sccache.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Install-RustToolchain.ps1 is a placeholder'
exit 1
