# PLACEHOLDER, not the real module: what every compile uses: CMake and Ninja for the target.

Import-Module "$PSScriptRoot\WindowsScripts.Shared.psm1"
Import-Module "$PSScriptRoot\WindowsSourceBuild.Patches.psm1"
Import-Module "$PSScriptRoot\WindowsTargetArch.Common.psm1"

throw 'WindowsSourceBuild.Common.psm1 is a placeholder'
