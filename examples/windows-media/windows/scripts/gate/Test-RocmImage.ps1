# PLACEHOLDER, not the real script.
# It would run the suite for ROCm in the image and write what it counted and how it ended into -Destination.

Write-Error 'Test-RocmImage.ps1 is a placeholder'
exit 1
