@rem PLACEHOLDER, not the real script.
@rem It would load the environment of Visual Studio for VSDEVCMD_ARCH and run its arguments.
@echo entrypoint.cmd is a placeholder 1>&2
@exit /b 1
