#!/usr/bin/env bash
# A budget that runs out across two shells, as docs/ledger.md shows it: every command and what it printed.
# Usage: examples/budget_in_two_shells.sh path/to/dpselect
set -euo pipefail
program=$(realpath "$1")
examples=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
ln -s "$examples" examples  # so that the commands are those of a checkout
export COLUMNS=110

# Each shell is a process of its own, which knows nothing of the other but the file of the ledger.
shell() {
    bash -c 'program=$1; shift; for words in "$@"; do echo "\$ dpselect $words"; "$program" $words 2>&1 || true; done' \
        shell "$program" "$@"
}

question='examples/data/clicks.parquet page --unit session --candidates 1..41270'
budget='--ledger sqlite:///budget.db --account clicks'
shell 'ledger open sqlite:///budget.db clicks --epsilon 1 --unit session' \
    "most-common $question --epsilon 0.75 $budget"
echo
echo '# the next day, in another shell'
shell "top-k ${question/ page/ page 3} --epsilon 0.5 $budget" 'ledger history sqlite:///budget.db clicks'
