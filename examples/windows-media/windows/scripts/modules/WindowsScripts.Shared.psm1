# PLACEHOLDER, not the real module: what every script uses: downloads by hash, checks of exit codes.

throw 'WindowsScripts.Shared.psm1 is a placeholder'
