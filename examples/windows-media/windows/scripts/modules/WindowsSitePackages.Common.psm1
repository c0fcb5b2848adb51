# PLACEHOLDER, not the real module: installs wheels without losing the spelling of names.

throw 'WindowsSitePackages.Common.psm1 is a placeholder'
