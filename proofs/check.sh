#!/bin/sh
# Checks every proof in a copy under build/proofs, and that no theorem rests on an axiom that axioms.txt does not name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../build/proofs}
mkdir -p "$build"
cp -pu "$here"/*.v "$here"/_CoqProject "$build"
cd "$build"
coq_makefile -f _CoqProject -o Makefile.coq > /dev/null
make --no-print-directory -f Makefile.coq -j"${WORKERS:-2}" > made.txt 2>&1 || { cat made.txt; exit 1; }
coqc -Q . Fidelitree -w none Check.v > printed.txt || { cat printed.txt; exit 1; }
diff "$here/axioms.txt" printed.txt || { echo "proofs: the axioms are not those of axioms.txt"; exit 1; }
grep -c "Closed under the global context" printed.txt | sed 's/^/proofs: theorems that rest on no axiom: /'
sed -n '/^Axioms/,$p' printed.txt | sed -n 's/^\([A-Z][A-Za-z_.]*\)\( :.*\)*$/\1/p' | grep -v '^Axioms' | sort -u \
    | paste -sd' ' | sed 's/^/proofs: axioms of the two instances over the reals: /'
