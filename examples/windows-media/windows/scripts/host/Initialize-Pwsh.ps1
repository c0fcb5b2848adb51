# PLACEHOLDER, not the real script.
# It would unpack PowerShell $env:PWSH_VERSION, after its hash was compared.

Write-Error 'Initialize-Pwsh.ps1 is a placeholder'
exit 1
