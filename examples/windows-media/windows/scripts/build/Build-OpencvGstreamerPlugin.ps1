# PLACEHOLDER, not the real script.
# It would compile OpenCV's video plugin for GStreamer into -Destination.

Import-Module "$PSScriptRoot\..\modules\WindowsSourceBuild.Common.psm1"
Import-Module "$PSScriptRoot\..\modules\WindowsGstPlugins.Common.psm1"

Write-Error 'Build-OpencvGstreamerPlugin.ps1 is a placeholder'
exit 1
