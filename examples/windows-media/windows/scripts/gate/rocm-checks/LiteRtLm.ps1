# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: what LiteRT-LM loads for a graphics card loads, and has its entry.

Write-Error 'LiteRtLm.ps1 is a placeholder'
exit 1
