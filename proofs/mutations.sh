#!/bin/sh
# Three false rules, each a small change of Statements.v. The proof of the certificate rule must refuse every one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../build/proofs-mutated}

refused() {  # name, what is written in Statements.v, what is written instead
    place=$build/$1
    rm -rf "$place"
    mkdir -p "$place"
    cp "$here"/Statements.v "$here"/Bets.v "$here"/Ville.v "$here"/Certificate.v "$place"
    cd "$place"
    OLD=$2 NEW=$3 awk 'BEGIN { old = ENVIRON["OLD"] }
        (at = index($0, old)) { $0 = substr($0, 1, at - 1) ENVIRON["NEW"] substr($0, at + length(old)); n++ }
        { print }
        END { exit n != 1 }' "$here"/Statements.v > Statements.v || { echo "mutation $1: it applies not once"; exit 1; }
    for file in Statements Bets Ville; do coqc -Q . Fidelitree -w none $file.v; done
    if coqc -Q . Fidelitree -w none Certificate.v > refusal.txt 2>&1; then
        echo "mutation $1: the checker accepts it"
        exit 1
    fi
    sed -n 's/^File "\.\/\(Certificate.v\)", line \([0-9]*\),.*/\1, line \2/p' refusal.txt | grep . > where.txt \
        || { echo "mutation $1: refused elsewhere than in Certificate.v"; cat refusal.txt; exit 1; }
    echo "mutation $1: refused ($(cat where.txt))"
}

# Opener.v has a game of three inputs where the first of these certifies a false bound with chance 3/8 at level 1/4.
refused opener-counted "(tally A (take i h) (drop i h))" "(tally A (take i.+1 h) (drop i.+1 h))" &
one=$!
refused epsilon-above-error "states h i A eps & eps <= error_of A" "states h i A eps & error_of A <= eps" &
two=$!
wait $one
wait $two
refused levels-not-summed "& forall h, spent h <= delta]" "& forall h A, List.In A (opens h) -> level A <= delta]"
