# PLACEHOLDER, not the real script.
# It would run the bundle's programs on a machine with ARM in 18 steps, and write how many passed.

Write-Error 'Test-Arm64Bundle.ps1 is a placeholder'
exit 1
