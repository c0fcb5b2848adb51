"""What pefile reads of each PE image named on standard input, a line of JSON each."""

import json
import sys

import pefile

# pefile stops reading names behind so many.
MOST = pefile.MAX_SYMBOL_EXPORT_COUNT

def built(pe):
    """Who built it: versions of the linker and of Microsoft's tools, where the debug information lies, and its digest."""
    traces = {f"linker {pe.OPTIONAL_HEADER.MajorLinkerVersion}.{pe.OPTIONAL_HEADER.MinorLinkerVersion:02}"}
    rich = pe.parse_rich_header() or {"values": []}
    traces |= {f"rich {tool >> 16}.{tool & 0xFFFF}" for tool in rich["values"][::2]}
    for entry in getattr(pe, "DIRECTORY_ENTRY_DEBUG", []):
        cv = entry.entry
        if getattr(cv, "CvSignature", None) == b"RSDS":
            name = cv.PdbFileName.rstrip(b"\0").decode("utf-8", "replace")
            traces |= {f"pdb {name}"} if name else set()
            text = cv.Signature_String
            parts = [bytes.fromhex(part)[::-1].hex() for part in (text[:8], text[8:12], text[12:16])]
            traces.add("build-id " + "".join(parts) + text[16:32].lower())
    return sorted(traces)


def symbols(imports):
    return [f"#{i.ordinal}" if i.import_by_ordinal else i.name.decode("latin-1") for i in imports]


for path in sys.stdin.read().splitlines():
    pe = pefile.PE(path, fast_load=True)
    pe.parse_data_directories(
        [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{n}"] for n in ("DEBUG", "EXPORT", "IMPORT", "DELAY_IMPORT")]
    )
    imports = []
    for delayed, name in ((False, "DIRECTORY_ENTRY_IMPORT"), (True, "DIRECTORY_ENTRY_DELAY_IMPORT")):
        for entry in getattr(pe, name, []):
            imports.append([delayed, entry.dll.decode("latin-1"), symbols(entry.imports)])
    exports = getattr(getattr(pe, "DIRECTORY_ENTRY_EXPORT", None), "symbols", [])
    names = [f"#{e.ordinal}" if e.name is None else e.name.decode("latin-1") for e in exports]
    whole = names if len(names) < MOST else None
    forwards = {f"{'#%d' % e.ordinal if e.name is None else e.name.decode('latin-1')}": e.forwarder.decode("latin-1")
                for e in exports if e.forwarder}
    print(json.dumps([pe.FILE_HEADER.Machine, imports, whole, forwards, built(pe)]))
