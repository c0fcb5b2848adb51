# PLACEHOLDER, not the real module: the plugins that GStreamer must have.

throw 'WindowsGstPlugins.Common.psm1 is a placeholder'
