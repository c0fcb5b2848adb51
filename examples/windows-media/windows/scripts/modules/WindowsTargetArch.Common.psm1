# PLACEHOLDER, not the real module: what is known of each target.

throw 'WindowsTargetArch.Common.psm1 is a placeholder'
