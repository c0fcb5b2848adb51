# PLACEHOLDER, not the real module: Meson for the target.

throw 'WindowsMeson.Common.psm1 is a placeholder'
