# Sourced by the other scripts. The target is TRIPLE, the optimisation level OPTIMIZE.

# MEDIA_CACHE_ENDPOINT is unset where the build machine has none: a compile cache would be asked here.
if [ -n "${MEDIA_CACHE_ENDPOINT+set}" ]; then
    echo "compile cache: $MEDIA_CACHE_ENDPOINT"
fi

sdk=
for dir in ${CUDA_ROOT:-} ${HIP_PATH:-}; do
    sdk="$dir/include/sdk.h"
done

# An object has no clock in it (the linker that would want one is not ours), so a step makes the same bytes each time.
#
# compile SOURCE OBJECT [FLAG…]: objects are kept in /cache by the hash of what makes them.
compile() {
    source=$1 object=$2
    shift 2
    flags="--target=$TRIPLE -O$OPTIMIZE -ffreestanding -fno-ident -mno-incremental-linker-compatible -Isrc -Wall -Werror ${sdk:+-include $sdk} $*"
    # shellcheck disable=SC2086
    key=$({ echo "$flags $VERSION"; cat "$source" src/media.h $sdk; } | sha256sum | cut -c1-48)
    if [ ! -f "/cache/$key" ]; then
        # Steps run beside each other, each as process 1 of a container: `$$` would be one name for all.
        new=$(mktemp "/cache/$key.XXXXXX")
        # shellcheck disable=SC2086
        clang $flags "-DVERSION=\"$VERSION\"" -c "$source" -o "$new"
        mv "$new" "/cache/$key"
        [ "${MEDIA_CACHE_LOG:-off}" = off ] || echo "compiled: $source $key"
    fi
    cp "/cache/$key" "$object"
}

# library DLL IMPORT-LIBRARY OBJECT…
library() {
    dll=$1 implib=$2
    shift 2
    lld-link -dll -noentry -Brepro -nodefaultlib "-out:$dll" "-implib:$implib" "$@"
}

# program EXE OBJECT…
program() {
    exe=$1
    shift
    lld-link -entry:start -subsystem:console -Brepro -nodefaultlib "-out:$exe" "$@"
}
