# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: the plugins for HIP, AMF and Direct3D resolve what they import, and link none of it.

Write-Error 'GStreamer.ps1 is a placeholder'
exit 1
