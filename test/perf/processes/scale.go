// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/perf/report"
)

// extent is how large a cluster is that is at work.
type extent struct {
	Nodes, Pods, Clusters, Policies int
}

// times returns a size that is so many times as large.
func (s extent) times(factor float64) extent {
	scale := func(n int) int { return max(chosenSites, int(float64(n)*factor)) }
	return extent{Nodes: scale(s.Nodes), Pods: scale(s.Pods), Clusters: scale(s.Clusters), Policies: scale(s.Policies)}
}

// full is the cluster that the goals are about, and slopeFrom the one of which each part is doubled
// to see what that costs.
var (
	full      = extent{Nodes: 5000, Pods: 150_000, Clusters: 1000, Policies: 2000}
	slopeFrom = extent{Nodes: 500, Pods: 10_000, Clusters: 100, Policies: 200}
)

// largestShare is which part of all pods the largest workload has: 5,000 of 150,000.
const largestShare = 30

// ScaleOptions says how much is measured of a large cluster.
type ScaleOptions struct {
	Options

	// Factor is how large the cluster is in parts of the full one.
	Factor float64
	// Changes is how many pods, and how many nodes, are changed one after the other.
	Changes int
	// Slopes says that growth is measured as well.
	Slopes bool
}

// UsualScale is what a full run measures, in about a quarter of an hour on two processors. Within
// two minutes with nothing to do Go collects garbage once.
func UsualScale() ScaleOptions {
	return ScaleOptions{
		Options: Options{Rounds: 5, Pods: 1000, Starts: 2, IdleSeconds: 120}, Factor: 1, Changes: 100, Slopes: true,
	}
}

// RunScale measures schedulers and controllers in a large cluster that is at work. It ends
// everything that it starts. What was measured before an error is returned together with the error.
func RunScale(ctx context.Context, out io.Writer, o ScaleOptions) (*report.Scale, error) {
	size := full.times(o.Factor)
	if o.Factor < 1 {
		o.Pods = max(100, int(float64(o.Pods)*o.Factor)/25*25)
	}
	results := &report.Scale{Nodes: size.Nodes, Pods: size.Pods, Clusters: size.Clusters, Policies: size.Policies}
	err := inWorld(ctx, out, &o, size, func(w *world) error {
		return errors.Join(w.scaleControllers(ctx, &o, results), w.scaleDrains(ctx, results))
	})
	if err != nil || !o.Slopes {
		return results, err
	}
	results.Slopes, err = slopes(ctx, out, &o)
	return results, err
}

// inWorld measures something in a cluster of a size, in which no controllers of Kubernetes run.
func inWorld(ctx context.Context, out io.Writer, o *ScaleOptions, size extent, measure func(*world) error) error {
	options := o.Options
	options.Nodes, options.Policies = size.Nodes, size.Policies
	return within(ctx, out, &options, func(w *world) error {
		w.clusters = size.Clusters
		w.sayf("filling a cluster: %d nodes, %d pods, %d Clusters, %d policies", size.Nodes, size.Pods, size.Clusters, size.Policies)
		if err := w.fill(ctx, size); err != nil {
			return err
		}
		return measure(w)
	})
}

// fill makes the cluster.
func (w *world) fill(ctx context.Context, size extent) error {
	for n := range namespaces {
		if err := w.createNamespace(ctx, namespaceOf(n)); err != nil {
			return err
		}
	}
	controllers, err := w.controllerManager()
	if err != nil {
		return err
	}
	// These namespaces, too, need a controller that makes their ServiceAccount.
	if err := w.prepareBacklogs(ctx); err != nil {
		return err
	}
	if err := w.createClusters(ctx, size.Clusters); err != nil {
		return err
	}
	if err := controllers.Stop(stopGrace); err != nil {
		return err
	}
	w.workloads = workloadsOf(size)
	err = parallel(ctx, len(w.workloads), func(i int) error { return w.createEqualPolicy(ctx, &w.workloads[i]) })
	if err != nil {
		return err
	}
	seeder, err := w.newSeeder()
	if err != nil {
		return err
	}
	if err := errors.Join(w.seed(ctx, seeder, size), seeder.close(ctx)); err != nil {
		return err
	}
	return w.awaitSeeded(ctx, &w.workloads[len(w.workloads)-1])
}

// awaitSeeded waits until the API server shows the workload that was stored last. All that etcd
// stores at once has the same revision: whoever lists a part of it does not hear of the rest, since
// a watch begins after that revision.
func (w *world) awaitSeeded(ctx context.Context, last *workload) error {
	return w.await(ctx, func(ctx context.Context) error {
		known := metav1.ListOptions{ResourceVersion: "0", LabelSelector: "app=" + last.name}
		found, err := w.client.CoreV1().Pods(last.namespace).List(ctx, known)
		if err != nil {
			return err
		}
		if len(found.Items) != last.replicas {
			return fmt.Errorf("the API server shows %d of %d pods of %s", len(found.Items), last.replicas, last.name)
		}
		sets, err := w.client.AppsV1().ReplicaSets(last.namespace).List(ctx, known)
		if err == nil && len(sets.Items) != 1 {
			err = fmt.Errorf("the API server does not show the ReplicaSet of %s", last.name)
		}
		return err
	})
}

// seed stores the nodes, and the workloads with their pods, of which every node gets as many as the
// next one.
func (w *world) seed(ctx context.Context, seeder *seeder, size extent) error {
	if err := seeder.seedNodes(ctx, size.Nodes, size.Clusters); err != nil {
		return err
	}
	perSite, next := size.Nodes/size.Clusters, map[string]int{}
	node := func(site string) string {
		number, err := strconv.Atoi(site[len("site-"):])
		if err != nil {
			panic("a site that is called " + site) // they were named here
		}
		next[site]++
		return nodeName(number + size.Clusters*(next[site]%perSite))
	}
	for i := range w.workloads {
		if err := seeder.seedWorkload(ctx, &w.workloads[i], node); err != nil {
			return err
		}
	}
	return nil
}

// workloadsOf returns a workload for each policy: one over many sites that has a part of all pods,
// and others over ten sites each that have as many as each other.
func workloadsOf(size extent) []workload {
	large := size.Pods / largestShare
	others := max(1, (size.Pods-large)/max(1, size.Policies-1))
	workloads := make([]workload, size.Policies)
	for i := range workloads {
		x := &workloads[i]
		x.namespace, x.name, x.replicas = namespaceOf(i), "web-"+strconv.Itoa(i), others
		count, first := min(chosenSites, size.Clusters), chosenSites*i
		if i == 0 {
			x.replicas, count = large, min(10*chosenSites, size.Clusters)
		}
		for s := range count {
			x.sites = append(x.sites, siteName((first+s)%size.Clusters))
		}
		slices.Sort(x.sites) // seats of equal weights go by the names
	}
	return workloads
}

// createEqualPolicy shares a workload out in equal parts.
func (w *world) createEqualPolicy(ctx context.Context, x *workload) error {
	policy := &berthv1alpha1.PropagationPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: x.namespace, Name: x.name},
		Spec: berthv1alpha1.PropagationPolicySpec{
			ResourceSelectors: []berthv1alpha1.ResourceSelector{{APIVersion: "apps/v1", Kind: "Deployment", Name: x.name}},
		},
	}
	policy.Spec.Placement.StaticWeightList = []berthv1alpha1.StaticClusterWeight{{ClusterNames: x.sites, Weight: 1}}
	if _, err := w.berth.BerthV1alpha1().PropagationPolicies(x.namespace).Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the policy: %w", err)
	}
	return nil
}

// scalePeers are the ways to place a backlog that are compared in a large cluster.
func (w *world) scalePeers() []peer {
	peers := slices.DeleteFunc(w.backlogPeers(), func(p peer) bool {
		return !slices.Contains([]string{"stock", "berth", "policy"}, p.name)
	})
	for i := range peers {
		peers[i].pods = w.Pods
		if peers[i].name == "policy" {
			peers[i].create = ownedPods
		}
	}
	return w.chosen(peers)
}

// backlogNamespace is where the pods of a peer are.
func backlogNamespace(p *peer) string { return "drain-" + p.name }

// prepareBacklogs makes the namespaces of the backlogs.
func (w *world) prepareBacklogs(ctx context.Context) error {
	peers := w.scalePeers()
	for i := range peers {
		if err := w.createNamespace(ctx, backlogNamespace(&peers[i])); err != nil {
			return err
		}
	}
	return nil
}

// scaleDrains measures how long a scheduler takes from its start to its first pod, and what it
// costs to place a backlog.
func (w *world) scaleDrains(ctx context.Context, results *report.Scale) error {
	peers := w.scalePeers()
	results.Drains = make([]report.Drain, len(peers))
	for i := range peers {
		results.Drains[i] = report.Drain{Name: peers[i].name, Title: peers[i].title, Pods: peers[i].pods, Limited: peers[i].limited}
	}
	for round := range w.Rounds {
		for turn := range peers {
			i := (turn + round) % len(peers)
			d := &results.Drains[i]
			if err := w.drainIn(ctx, &peers[i], backlogNamespace(&peers[i]), nil, d); err != nil {
				return fmt.Errorf("%s: %w", peers[i].name, err)
			}
			last := len(d.PodsPerSecond) - 1
			w.sayf("large cluster, round %d of %d: %s: first bind after %.0f ms and %.0f ms CPU, then %.0f pods/s, %.2f ms CPU a pod, %.0f MiB",
				round+1, w.Rounds, d.Name, d.FirstMilliseconds[last], d.FirstCPUMilliseconds[last], d.PodsPerSecond[last],
				d.CPUMilliseconds[last], d.MemoryBytes[last]/(1<<20))
		}
	}
	return nil
}

// ownedPods makes the pods of a Deployment over the chosen sites, as its controllers would.
func ownedPods(ctx context.Context, w *world, namespace string, p *peer) error {
	if err := w.createPolicy(ctx, namespace, "web", nil); err != nil {
		return err
	}
	spec := podSpec(p.program.schedulerName())
	set, err := w.createSet(ctx, namespace, "web", p.pods, &spec)
	if err != nil {
		return err
	}
	return w.createPodsOf(ctx, set, p.pods, &spec)
}
