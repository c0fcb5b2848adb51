# PLACEHOLDER, not the real script.
# It would compile the build interpreter, with its platform tag and python3.dll, and install Cython and NumPy into it.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-Cpython.ps1 is a placeholder'
exit 1
