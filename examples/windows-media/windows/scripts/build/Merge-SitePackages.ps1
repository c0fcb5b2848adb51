# PLACEHOLDER, not the real script.
# It would install the wheels of the store into the build interpreter.

Import-Module "$PSScriptRoot\..\modules\WindowsSitePackages.Common.psm1"

Write-Error 'Merge-SitePackages.ps1 is a placeholder'
exit 1
