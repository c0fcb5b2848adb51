# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: TVM has the targets that its marker names.

Write-Error 'TVM.ps1 is a placeholder'
exit 1
