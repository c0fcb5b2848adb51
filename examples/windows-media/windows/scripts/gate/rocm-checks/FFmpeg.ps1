# PLACEHOLDER, not the real script.
# It would write a line for each thing that is wrong with this: ffmpeg lists AMF's and Vulkan's codecs and filters, and imports no Vulkan loader.

Write-Error 'FFmpeg.ps1 is a placeholder'
exit 1
