#!/usr/bin/env bash
# Upgrades Berth under load from an older commit to this one, and goes back. Not part of CI, since it builds an old commit.
#
# Usage: hack/upgrade-test.sh OLD     OLD is a checkout of the older commit, with berth-scheduler and berth-controller-manager in its bin/
#
# An empty playground runs what is installed: first the older base, with 500 pods of ten policies two to three over two sites. While
# they are scaled up by five and down again, one after another, the one file of this commit is applied, and then the older base again.
# Each time it says how many of the pods from before are gone (none should be), and fails unless the shares are exact.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

old=$(cd "${1:?usage: hack/upgrade-test.sh OLD}" && pwd)
root=$PWD
work=$(mktemp -d)
deployments=10
replicas=50
export KUBECONFIG=$work/state/berth-admin.kubeconfig PATH=$root/bin:$PATH

finish() {
  [[ -z ${playground:-} ]] || { kill -INT "$playground" && wait "$playground" || true; }
  rm -rf "$work"
}
trap finish EXIT

# programs DIRECTORY has pods that start from now on run the scheduler and the controller manager of a checkout, without those flags
# of a playground that an older one does not have.
programs() {
  local program
  for program in berth-scheduler berth-controller-manager; do
    cat >"$work/bin/$program.new" <<END
#!/usr/bin/env bash
args=()
for arg; do
  [[ \$arg == --metrics-allow-* ]] || args+=("\$arg")
done
exec "$1/bin/$program" "\${args[@]}"
END
    chmod +x "$work/bin/$program.new"
    mv -f "$work/bin/$program.new" "$work/bin/$program"
  done
}

# workloads prints the policies and their Deployments.
workloads() {
  local i
  for ((i = 0; i < deployments; i++)); do
    cat <<END
---
apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: web-$i}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web-$i}]
  placement:
    staticWeightList: [{clusterNames: [beijing], weight: 2}, {clusterNames: [hangzhou], weight: 3}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-$i}
spec:
  replicas: $replicas
  selector: {matchLabels: {app: web-$i}}
  template:
    metadata: {labels: {app: web-$i, load: "yes"}}
    spec: {schedulerName: berth-scheduler, containers: [{name: main, image: web}]}
END
  done
}

# settled waits until all pods run, and fails unless each Deployment has exactly its share in each site.
settled() {
  local i counts
  for ((i = 0; i < deployments; i++)); do
    kubectl rollout status deployment "web-$i" --timeout=240s >/dev/null
    counts=$(kubectl get pods --selector "app=web-$i" --output jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sed 's/-[0-9]*$//' | sort | uniq -c | xargs)
    [[ $counts == "$((replicas * 2 / 5)) beijing $((replicas * 3 / 5)) hangzhou" ]] || { echo "web-$i: $counts"; return 1; }
  done
}

# uids prints the pods by UID.
uids() { kubectl get pods --selector load=yes --output jsonpath='{range .items[*]}{.metadata.uid}{"\n"}{end}' | sort; }

# load scales one Deployment after another up by five and down again, until the file stop is there.
load() {
  local i
  while [[ ! -e $work/stop ]]; do
    for ((i = 0; i < deployments; i++)); do
      kubectl scale deployment "web-$i" --replicas=$((replicas + 5)) >/dev/null
      kubectl rollout status deployment "web-$i" --timeout=240s >/dev/null
      kubectl scale deployment "web-$i" --replicas=$replicas >/dev/null
      [[ ! -e $work/stop ]] || break
    done
  done
}

# under_load NAME COMMAND... runs the command while load changes the workloads, and says what became of the pods.
under_load() {
  local name=$1 before=$work/before after=$work/after
  shift
  rm -f "$work/stop"
  uids >"$before"
  load &
  "$@"
  touch "$work/stop"
  wait $!
  settled
  uids >"$after"
  echo "$name: $(wc -l <"$after") pods run, exactly as shared out; $(comm -23 "$before" "$after" | wc -l) of those before are gone"
}

rolled_out() {
  local program
  for program in berth-scheduler berth-controller-manager; do
    kubectl rollout status deployment "$program" --namespace berth-system --timeout=240s >/dev/null
  done
}

upgrade() {
  programs "$root"
  kubectl apply --server-side --force-conflicts -f "$work/berth.yaml" >/dev/null
  rolled_out
}

back() {
  programs "$old"
  kubectl apply --server-side --force-conflicts -k "$old/manifests/base" >/dev/null
  rolled_out
}

mkdir "$work/bin"
for program in etcd kube-apiserver kube-controller-manager kwok berth-gateway berthctl; do
  ln -s "$root/bin/$program" "$work/bin/"
done
programs "$old"
go run ./hack/onefile -tag v0.1.0 >"$work/berth.yaml"
bin/berth-playground up --empty --nodes=10 --bin-dir="$work/bin" --manifests=manifests --state-dir="$work/state" >"$work/playground.log" &
playground=$!
until grep -q KUBECONFIG "$work/playground.log"; do sleep 0.2; done

kubectl apply --server-side -f "$old/manifests/crds" >/dev/null
kubectl apply --server-side -k "$old/manifests/base" >/dev/null
rolled_out
for site in beijing hangzhou; do
  printf '{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: %s}, spec: {matchLabels: {topology.kubernetes.io/region: %s}}}\n' $site $site |
    kubectl apply -f - >/dev/null
done
kubectl wait --for=condition=Ready --timeout=60s clusters.berth.dev --all >/dev/null
workloads | kubectl apply -f - >/dev/null
settled
echo "before: $(uids | wc -l) pods run, exactly as shared out"
under_load upgrade upgrade
under_load back back
