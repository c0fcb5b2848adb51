#!/bin/sh
# Sees GREETING and WHOM, because its step names them, and nothing else of the file.
set -eu
echo "$GREETING, $WHOM!" > /hello.txt
