# Sourced by the scripts beside it: lets KUBERNETES=1.37 choose the minor of Kubernetes that programs and tests are compiled
# with. It sets `gomod`, the go.mod that is read, and `bin`, the folder of the programs; without KUBERNETES these are go.mod and
# bin. What is chosen beside go.mod is in build/kubernetes-MINOR, written by hack/kubernetes-minor.sh.

# shellcheck source=hack/pins.sh
source hack/pins.sh

gomod=go.mod
bin=bin
if [[ -n ${KUBERNETES:-} ]]; then
  own_minor=$(kubernetes_of go.mod | sed 's/^v//; s/\.[0-9]*$//')
  if [[ $KUBERNETES != "$own_minor" ]]; then
    gomod=build/kubernetes-$KUBERNETES/go.mod
    bin=bin/kubernetes-$KUBERNETES
    [[ -f $gomod ]] || {
      echo "Berth is not built for Kubernetes $KUBERNETES, but for $(echo "$own_minor" build/kubernetes-* | sed 's#build/kubernetes-##g; s/ /, /g')" >&2
      exit 2
    }
    export GOFLAGS="${GOFLAGS:-} -modfile=$PWD/$gomod -tags=kubernetes_${KUBERNETES//./_}"
  fi
fi
