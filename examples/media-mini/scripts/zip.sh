# Sourced. Zips without compression and without a clock: the same files make the same bytes.

le2() { printf '%02x%02x' $(($1 & 255)) $(($1 >> 8 & 255)); }
le4() { le2 $(($1 & 65535)); le2 $(($1 >> 16)); }

# zip ARCHIVE MEMBER…: members are paths below the working directory.
zip() {
    archive=$1 offset=0 count=0
    shift
    : > "$archive"
    : > /tmp/central
    for member in "$@"; do
        size=$(stat -c %s "$member")
        crc=$((0x$(crc32 "$member" | cut -d' ' -f1)))
        # Version 2.0, no flags, stored, 1980-01-01 00:00.
        common="140000000000""00002100$(le4 "$crc")$(le4 "$size")$(le4 "$size")$(le2 ${#member})0000"
        { echo "504b0304$common" | xxd -r -p; printf %s "$member"; cat "$member"; } >> "$archive"
        { echo "504b01021400${common}0000000000000000""0000$(le4 "$offset")" | xxd -r -p; printf %s "$member"; } >> /tmp/central
        offset=$((offset + 30 + ${#member} + size))
        count=$((count + 1))
    done
    cat /tmp/central >> "$archive"
    end="504b050600000000$(le2 "$count")$(le2 "$count")$(le4 "$(stat -c %s /tmp/central)")$(le4 "$offset")0000"
    echo "$end" | xxd -r -p >> "$archive"
}
