# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: both builds are what their manifests say, and find each import where the loader looks.

Write-Error 'LlamaCpp.ps1 is a placeholder'
exit 1
