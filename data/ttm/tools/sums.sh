#!/usr/bin/env bash
# Records the sums of the data files after a change that is meant.
set -euo pipefail
cd "$(dirname "$0")/.."
find . -type f ! -name SHA256SUMS ! -path ./README.md ! -path './tools/*' | sed 's|^\./||' | LC_ALL=C sort |
  xargs sha256sum >SHA256SUMS
