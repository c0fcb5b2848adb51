# PLACEHOLDER, not the real script.
# It would write BUNDLE-ENV.cmd, BUNDLE-ENV.ps1 and BUNDLE-README.md into -Destination, without a clock.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Write-BundleManifest.ps1 is a placeholder'
exit 1
