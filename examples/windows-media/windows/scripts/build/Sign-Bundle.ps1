# PLACEHOLDER, not the real script.
# It would copy -Bundle to -Destination and have every image in it signed by the service at SIGNING_ENDPOINT.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Sign-Bundle.ps1 is a placeholder'
exit 1
