"""measure.py OUT COMMAND...: runs it with its output in OUT; seconds, peak memory, exit code."""

import json
import resource
import subprocess
import sys
import time

out, command = sys.argv[1], sys.argv[2:]
with open(out, "wb") as stdout:
    start = time.perf_counter()
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - start
if ended.returncode not in (0, 1):
    sys.stderr.buffer.write(ended.stderr)
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"exit": ended.returncode, "seconds": seconds, "kilobytes": kilobytes}))
