#!/bin/sh
# What a bare Debian or Ubuntu lacks for `python3 -m venv` and for `import open3d`. Installs it where that is allowed,
# else prints the one line to run and fails. Usage: system-libs.sh venv|open3d [PYTHON]
set -eu
case "$1" in
venv)
    python="${2:-python3}"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "spacecast needs Python 3.11 or newer; found: $("$python" --version). Set PYTHON=/path/to/python3.11" >&2; exit 2; }
    "$python" -c 'import ensurepip, venv' 2>/dev/null && exit 0
    packages="python3-venv" ;;
open3d)
    python="$2"
    "$python" -c 'from spacecast.sight.rays import require_open3d; require_open3d()' 2>/dev/null && exit 0
    packages="libusb-1.0-0 libegl1 libgl1 libx11-6 libudev1 libidn2-0 libgomp1" ;;
*) echo "usage: $0 venv|open3d [PYTHON]" >&2; exit 2 ;;
esac

line="apt-get update && apt-get install -y --no-install-recommends $packages"
if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then
        sh -c "export DEBIAN_FRONTEND=noninteractive; $line" >&2
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo -n sh -c "export DEBIAN_FRONTEND=noninteractive; $line" >&2
    else
        echo "system libraries are missing; run this line once, then make again:  sudo sh -c '$line'" >&2; exit 2
    fi
else
    echo "system libraries are missing and there is no apt-get; install what Debian calls: $packages" >&2; exit 2
fi
[ "$1" = open3d ] && "$python" -c 'from spacecast.sight.rays import require_open3d; require_open3d()'
exit 0
