# PLACEHOLDER, not the real script.
# It would write the environment of this process, of the machine and of the user as JSON into -Destination.

Write-Error 'Save-Environment.ps1 is a placeholder'
exit 1
