# Sourced by the scripts beside it: which release of Kubernetes a go.mod requires, and how it is moved to another one.

# kubernetes_of FILE prints which release of Kubernetes a go.mod requires.
kubernetes_of() { awk '$1 == "k8s.io/kubernetes" && $2 ~ /^v/ {print $2; exit}' "$1"; }

# kubernetes_pins VERSION prints the arguments by which `go mod edit` moves go.mod, or a copy of it, to a release: k8s.io/kubernetes,
# every staging module that it replaces (they must all be of the same release, and `replace` directives are not inherited), and the
# require lines of the staging modules that Berth imports.
kubernetes_pins() {
  local version=$1 staging=v0.${1#v1.} answer file modules module
  answer=$(go mod download -json "k8s.io/kubernetes@$version") || {
    echo "k8s.io/kubernetes@$version cannot be had:$(sed -n 's/^[[:space:]]*"Error":\(.*\)$/\1/p' <<<"$answer")" >&2
    return 1
  }
  file=$(sed -n 's/^[[:space:]]*"GoMod": "\(.*\)",$/\1/p' <<<"$answer")
  modules=$(sed -n 's#^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => ./staging/.*#\1#p' "$file" | sort -u)
  [[ -n $modules ]] || { echo "found no staging modules in $file" >&2; return 1; }
  echo "-require=k8s.io/kubernetes@$version"
  for module in $modules; do
    echo "-replace=$module=$module@$staging"
  done
  for module in $(awk '$1 ~ /^k8s.io\// && $2 ~ /^v0\.[0-9]+\.[0-9]+$/ {print $1}' go.mod | grep -Fx "$modules"); do
    echo "-require=$module@$staging"
  done
}
