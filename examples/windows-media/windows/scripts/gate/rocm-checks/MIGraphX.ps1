# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: the provider loads without a graphics card, and has its entry.

Write-Error 'MIGraphX.ps1 is a placeholder'
exit 1
