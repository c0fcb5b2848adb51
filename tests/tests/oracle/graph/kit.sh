echo "$CC_VERSION in $CC_DIR"
