#!/usr/bin/env bash
# Upgrades Berth under load from an older commit to this one, and goes back. Not part of CI, since it builds an old commit.
#
# Usage: hack/upgrade-test.sh OLD     OLD is a checkout of the older commit, with berth-scheduler and berth-controller-manager in its bin/
#
# An empty playground runs what is installed: first the older base, with 500 pods of ten policies two to three over two sites that two
# named Schedulers share, 25 pods that want one of 20 licences, an Application in the site with the better metric, and a Subscription
# that copies a Deployment to the other site. While the Deployments of the policies are scaled up by five and down again, one after
# another, the one file of this commit is applied, and then the older base again. It fails if a pod from before is gone, if shares,
# copies or the Application are not as they were, or if more licences are seen to be held than there are, which it looks at all the while.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

old=$(cd "${1:?usage: hack/upgrade-test.sh OLD}" && pwd)
root=$PWD
work=$(mktemp -d)
deployments=10
replicas=50
licences=20
export KUBECONFIG=$work/state/berth-admin.kubeconfig PATH=$root/bin:$PATH

finish() {
  [[ -z ${playground:-} ]] || { kill -INT "$playground" && wait "$playground" || true; }
  rm -rf "$work"
}
trap finish EXIT

# programs DIRECTORY has pods that start from now on run the scheduler and the controller manager of a checkout, without those flags
# of a playground that they do not have.
programs() {
  local program
  for program in berth-scheduler berth-controller-manager; do
    cat >"$work/bin/$program.new" <<END
#!/usr/bin/env bash
args=()
for arg; do
  [[ \$arg == --metrics-allow-* || \$arg == --history-* ]] || args+=("\$arg")
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

# further prints what else runs meanwhile: Schedulers, a licence and who wants it, an Application, and copies.
further() {
  cat <<END
---
{apiVersion: berth.dev/v1alpha1, kind: Scheduler, metadata: {name: north}, spec: {managed: {}}}
---
{apiVersion: berth.dev/v1alpha1, kind: Scheduler, metadata: {name: south}, spec: {managed: {}}}
---
{apiVersion: berth.dev/v1alpha1, kind: ClusterResource, metadata: {name: matlab}, spec: {capacity: [{quantity: "$licences"}]}}
---
{apiVersion: berth.dev/v1alpha1, kind: GlobalMetric, metadata: {name: sun}, spec: {min: 0, max: 1, provider: {name: fixed, metric: sun}}}
---
{apiVersion: berth.dev/v1alpha1, kind: GlobalMetric, metadata: {name: wind}, spec: {min: 0, max: 1, provider: {name: fixed, metric: wind}}}
---
apiVersion: berth.dev/v1alpha1
kind: GlobalMetricsProvider
metadata: {name: fixed}
spec: {type: static, static: {metrics: {sun: 0.9, wind: 0.1}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: solver}
spec:
  replicas: $((licences + 5))
  selector: {matchLabels: {app: solver}}
  template:
    metadata: {labels: {app: solver, load: "yes"}}
    spec:
      schedulerName: berth-scheduler
      containers: [{name: main, image: web, resources: {limits: {cluster-resource.berth.dev/matlab: 1}}}]
---
apiVersion: berth.dev/v1alpha1
kind: Application
metadata: {name: trainer}
spec:
  migration: StartFirst
  rescheduleAfter: 10s
  manifests:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: trainer}
    spec:
      replicas: 3
      selector: {matchLabels: {app: trainer}}
      template:
        metadata: {labels: {app: trainer, load: "yes"}}
        spec: {containers: [{name: main, image: web}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: motd}
spec:
  replicas: 2
  selector: {matchLabels: {app: motd}}
  template:
    metadata: {labels: {app: motd, load: "yes"}}
    spec: {schedulerName: berth-scheduler, containers: [{name: main, image: web}]}
---
apiVersion: berth.dev/v1alpha1
kind: Subscription
metadata: {name: motd}
spec:
  schedulingStrategy: Replication
  subscribers: [{clusterAffinity: {}}]
  feeds: [{apiVersion: apps/v1, kind: Deployment, namespace: default, name: motd}]
END
}

# sites SELECTOR prints how many pods are bound in each site.
sites() {
  kubectl get pods --selector "$1" --output jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sed '/^$/d; s/-[0-9]*$//' | sort | uniq -c | xargs
}

# expect NAME WANT COMMAND... fails unless the command prints what is wanted within four minutes.
expect() {
  local name=$1 want=$2 got deadline=$((SECONDS + 240))
  shift 2
  until got=$("$@") && [[ $got == "$want" ]]; do
    ((SECONDS < deadline)) || { echo "$name: $got, not $want"; return 1; }
    sleep 1
  done
}

# holders prints how many pods hold a licence.
holders() {
  kubectl get pods --selector app=solver --output jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sed '/^$/d' | wc -l
}

# settled waits until all pods run, and fails unless each Deployment has exactly its share in each site.
settled() {
  local i
  for ((i = 0; i < deployments; i++)); do
    kubectl rollout status deployment "web-$i" --timeout=240s >/dev/null
    expect "web-$i" "$((replicas * 2 / 5)) beijing $((replicas * 3 / 5)) hangzhou" sites "app=web-$i"
  done
  expect trainer "3 beijing" sites app=trainer
  expect "motd and its copy" "2 beijing 2 hangzhou" sites app=motd
  expect licences "$licences" holders
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

# count notes how many licences are held, again and again, until the file stop is there.
count() {
  while [[ ! -e $work/stop ]]; do
    holders >>"$work/held"
    sleep 0.3
  done
}

# under_load NAME COMMAND... runs the command while load changes the workloads, and says what became of the pods.
under_load() {
  local name=$1 before=$work/before after=$work/after loading counting gone most
  shift
  rm -f "$work/stop" "$work/held"
  uids >"$before"
  load & loading=$!
  count & counting=$!
  "$@"
  touch "$work/stop"
  wait "$loading"
  wait "$counting"
  settled
  uids >"$after"
  gone=$(comm -23 "$before" "$after" | wc -l)
  most=$(sort -n "$work/held" | tail -n 1)
  echo "$name: $(wc -l <"$after") pods, those that run exactly as shared out; $gone of those before are gone; at $(wc -l <"$work/held") looks at most $most of $licences licences were held"
  ((gone == 0 && most <= licences))
}

rolled_out() {
  local deployment
  for deployment in $(kubectl get deployments --namespace berth-system --output name); do
    kubectl rollout status "$deployment" --namespace berth-system --timeout=240s >/dev/null
  done
}

upgrade() {
  programs "$root"
  kubectl apply --server-side --force-conflicts -f "$work/berth.yaml" >/dev/null
  berthctl allow namespace default >/dev/null
  rolled_out
}

back() {
  berthctl downgrade >/dev/null
  programs "$old"
  kubectl apply --server-side --force-conflicts -k "$old/manifests/base" >/dev/null
  rolled_out
  berthctl downgrade >/dev/null
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
for site in beijing/sun hangzhou/wind; do
  printf '{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: %s}, spec: {matchLabels: {topology.kubernetes.io/region: %s}, metrics: [{name: %s, weight: 1}]}}\n' \
    ${site%/*} ${site%/*} ${site#*/} | kubectl apply -f - >/dev/null
done
further | kubectl apply -f - >/dev/null
kubectl wait --for=condition=Ready --timeout=240s clusters.berth.dev --all >/dev/null
workloads | kubectl apply -f - >/dev/null
settled
rolled_out
echo "before: $(uids | wc -l) pods, those that run exactly as shared out"
under_load upgrade upgrade
under_load back back
