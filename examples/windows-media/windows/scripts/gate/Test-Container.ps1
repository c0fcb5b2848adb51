# PLACEHOLDER, not the real script.
# It would run the suite in the image and write what it counted and how it ended into -Destination.

Write-Error 'Test-Container.ps1 is a placeholder'
exit 1
