# PLACEHOLDER, not the real script.
# It would check CPython out at v$env:PYTHON_VERSION.

Import-Module "$PSScriptRoot\..\modules\WindowsScripts.Shared.psm1"

Write-Error 'Get-CpythonSource.ps1 is a placeholder'
exit 1
