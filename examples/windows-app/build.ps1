param([Parameter(Mandatory)][string] $Out)
New-Item -ItemType Directory -Path $Out | Out-Null
throw "here the tool would be built, and its tool.msi put into $Out"
