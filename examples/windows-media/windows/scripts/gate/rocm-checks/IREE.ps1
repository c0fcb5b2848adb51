# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: iree-compile makes code objects for gfx1201, and its runtime lists the driver for HIP.

Write-Error 'IREE.ps1 is a placeholder'
exit 1
