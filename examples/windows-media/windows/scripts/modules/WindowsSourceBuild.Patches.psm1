# PLACEHOLDER, not the real module: applies the patches of a directory, each just once.

throw 'WindowsSourceBuild.Patches.psm1 is a placeholder'
