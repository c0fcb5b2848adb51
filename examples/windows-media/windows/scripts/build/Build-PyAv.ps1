# PLACEHOLDER, not the real script.
# It would build the wheels of PyAV against -Ffmpeg into -Wheels.
# It runs free-threaded-wheel.py for the twins without a GIL.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"

Write-Error 'Build-PyAv.ps1 is a placeholder'
exit 1
