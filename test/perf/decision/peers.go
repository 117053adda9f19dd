// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
)

// peer is one way to decide where the pods of a workload run.
type peer struct {
	// name identifies the peer in results.
	name string
	// title tells a reader what is done how.
	title string
	// start makes what belongs to the peer, its scheduler too unless it takes a profile of the
	// common one.
	start func(ctx context.Context, a *arena) (*contestant, error)
}

// contestant is a peer at work.
type contestant struct {
	*rig

	// name is that of the peer.
	name string
	// layout is the cluster of the peer, nil if it is that of all others.
	layout *layout
	// pod returns the pod with the given number of the workload.
	pod func(number int) *corev1.Pod
	// shares tells how many pods each site is to run at most when all are placed; nil if the peer
	// does not limit them.
	shares map[string]int
	// bound and reset tell about placements, if the peer does not see them by itself.
	bound func(node string)
	reset func()
}

// stockConfiguration is what the default scheduler uses.
const stockConfiguration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
`

// Configurations are the scheduler configurations that Berth ships, as YAML.
type Configurations struct {
	// Shipped is that of berth-scheduler.
	Shipped string
	// AddsOnly adds Berth's plugins to the stock settings.
	AddsOnly string
}

// ofProfile is a peer that needs no scheduler of its own. Shares is nil for one that does not share
// out.
func ofProfile(
	profile, name, title string, pod func(l *layout, number int) *corev1.Pod, shares func(l *layout) map[string]int,
) peer {
	return peer{name: name, title: title, start: func(ctx context.Context, a *arena) (*contestant, error) {
		r, err := a.rig(ctx, profile)
		c := &contestant{rig: r, pod: func(number int) *corev1.Pod { return pod(a.layout, number) }}
		if shares != nil {
			c.shares = shares(a.layout)
		}
		return c, err
	}}
}

var plainPods = ofProfile(stockProfile, "stock", "default-scheduler, plain pods (does not share out)",
	func(_ *layout, number int) *corev1.Pod { return workloadPod(number).Obj() }, nil)

// nodeAffinity is today's practice: one Deployment for each site, with as many replicas as the site
// is to run. Each pod that is placed belongs to the Deployment of the next site.
var nodeAffinity = ofProfile(stockProfile, "node-affinity", "default-scheduler, one Deployment per site with node affinity",
	func(l *layout, number int) *corev1.Pod {
		slot := number % 25
		for s, site := range l.chosen {
			if slot -= weightOf(s); slot < 0 {
				return workloadPod(number).NodeAffinityIn(siteLabel, []string{site}, st.NodeSelectorTypeMatchExpressions).Obj()
			}
		}
		return nil // The weights add up to 25.
	},
	byWeight)

// pinned leaves nothing to decide: what is left of a decision is what it costs at least.
var pinned = ofProfile(shippedProfile, "pinned",
	"Berth, shipped profile, plain pods that are pinned to a node each (the least that a decision costs)",
	func(l *layout, number int) *corev1.Pod {
		return workloadPod(number).Namespace(elsewhere).NodeAffinityIn(metav1.ObjectNameField, []string{l.nodes[number%len(l.nodes)].Name},
			st.NodeSelectorTypeMatchFields).Obj()
	}, nil)

// topologySpread knows no weights: it shares out equally.
var topologySpread = ofProfile(stockProfile, "topology-spread", "default-scheduler, PodTopologySpread over the sites (equal shares only)",
	func(l *layout, number int) *corev1.Pod {
		return workloadPod(number).NodeAffinityIn(siteLabel, l.chosen, st.NodeSelectorTypeMatchExpressions).
			SpreadConstraint(1, siteLabel, corev1.DoNotSchedule, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				ptr.To[int32](chosenSites), nil, nil, nil).Obj()
	},
	equally)

func byWeight(l *layout) map[string]int { return l.shares(replicas) }
func equally(l *layout) map[string]int  { return l.equalShares(replicas) }

// withExtender lets an HTTP extender do the sharing out.
func withExtender(name, title string, byName bool) peer {
	return peer{name: name, title: title, start: func(ctx context.Context, a *arena) (*contestant, error) {
		e, address, err := newExtender(ctx, a.layout, byName, replicas)
		if err != nil {
			return nil, fmt.Errorf("starting the extender: %w", err)
		}
		r, err := ownRig(ctx, a.layout, stockConfiguration, &setup{extenders: []schedulerconfig.Extender{address}})
		return &contestant{
			rig: r, shares: byWeight(a.layout),
			pod:   func(number int) *corev1.Pod { return workloadPod(number).Obj() },
			bound: e.bound, reset: func() { e.reset(len(a.chosen)) },
		}, err
	}}
}

var (
	extenderByName = withExtender("extender", "HTTP extender, nodeCacheCapable: true", true)
	extenderByNode = withExtender("extender-literal", "HTTP extender, nodeCacheCapable: false", false)
)

// berth shares out by a PropagationPolicy.
func berth(profile, name, title string) peer {
	_, set := webDeployment()
	return ofProfile(profile, name, title, func(_ *layout, number int) *corev1.Pod { return ownedPod(set, number) }, byWeight)
}

var (
	berthShipped  = berth(shippedProfile, "berth", "Berth, shipped profile")
	berthAddsOnly = berth(addsOnlyProfile, "berth-adds-only", "Berth, plugins added to the stock settings")
)

// berthAmongFewer does the same in a cluster of its own of which the policy has a tenth instead of
// a hundredth.
var berthAmongFewer = peer{
	name: "berth-5000", title: "Berth, shipped profile, ten of a hundred sites, which hold 500 of 5000 nodes",
	start: func(ctx context.Context, a *arena) (*contestant, error) {
		fewer := &arena{layout: newLayout(5000, 10*chosenSites, 5, 0), Configurations: a.Configurations}
		c, err := berthShipped.start(ctx, fewer)
		if err != nil {
			return nil, err
		}
		c.layout = fewer.layout
		return c, nil
	},
}

// bystander places plain pods of another namespace than that which has a policy.
func bystander(profile, name, title string) peer {
	return ofProfile(profile, name, title,
		func(_ *layout, number int) *corev1.Pod { return workloadPod(number).Namespace(elsewhere).Obj() }, nil)
}

var (
	bystanderStock    = bystander(stockProfile, "stock", "default-scheduler, plain pods (does not share out)")
	bystanderShipped  = bystander(shippedProfile, "berth", "Berth, shipped profile, plain pods")
	bystanderAddsOnly = bystander(addsOnlyProfile, "berth-adds-only", "Berth, plugins added to the stock settings, plain pods")
)
