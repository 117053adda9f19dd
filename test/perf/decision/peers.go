// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	// start makes the scheduler and what belongs to it.
	start func(ctx context.Context, l *layout, c *Configurations) (*contestant, error)
}

// contestant is a peer at work.
type contestant struct {
	*rig

	// pod returns the pod with the given number of the workload.
	pod func(number int) *corev1.Pod
	// shares tells how many pods each site is to run at most when all are placed; nil if the peer does not limit them.
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

// stock is a peer that takes nothing but pods.
func stock(name, title string, pod func(l *layout, number int) *corev1.Pod, shares func(l *layout) map[string]int) peer {
	return peer{name: name, title: title, start: func(ctx context.Context, l *layout, _ *Configurations) (*contestant, error) {
		r, err := newRig(ctx, l, &setup{configuration: stockConfiguration})
		c := &contestant{rig: r, pod: func(number int) *corev1.Pod { return pod(l, number) }}
		if shares != nil {
			c.shares = shares(l)
		}
		return c, err
	}}
}

var plainPods = stock("stock", "default-scheduler, plain pods (does not share out)",
	func(_ *layout, number int) *corev1.Pod { return workloadPod(number).Obj() }, nil)

// nodeAffinity is today's practice: one Deployment for each site, with as many replicas as the site is to run. Each pod that is
// placed belongs to the Deployment of the next site.
var nodeAffinity = stock("node-affinity", "default-scheduler, one Deployment per site with node affinity",
	func(l *layout, number int) *corev1.Pod {
		slot := number % 25
		for s, site := range l.chosen {
			if slot -= weightOf(s); slot < 0 {
				return workloadPod(number).NodeAffinityIn(siteLabel, []string{site}, st.NodeSelectorTypeMatchExpressions).Obj()
			}
		}
		return nil // The weights add up to 25.
	},
	func(l *layout) map[string]int { return l.shares(replicas) })

// topologySpread knows no weights: it shares out equally.
var topologySpread = stock("topology-spread", "default-scheduler, PodTopologySpread over the sites (equal shares only)",
	func(l *layout, number int) *corev1.Pod {
		return workloadPod(number).NodeAffinityIn(siteLabel, l.chosen, st.NodeSelectorTypeMatchExpressions).
			SpreadConstraint(1, siteLabel, corev1.DoNotSchedule, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				ptr.To[int32](chosenSites), nil, nil, nil).Obj()
	},
	func(l *layout) map[string]int { return l.equalShares(replicas) })

// withExtender lets an HTTP extender do the sharing out.
func withExtender(name, title string, byName bool) peer {
	return peer{name: name, title: title, start: func(ctx context.Context, l *layout, _ *Configurations) (*contestant, error) {
		e, address, err := newExtender(ctx, l, byName, replicas)
		if err != nil {
			return nil, fmt.Errorf("starting the extender: %w", err)
		}
		r, err := newRig(ctx, l, &setup{configuration: stockConfiguration, extenders: []schedulerconfig.Extender{address}})
		return &contestant{
			rig: r, shares: l.shares(replicas),
			pod:   func(number int) *corev1.Pod { return workloadPod(number).Obj() },
			bound: e.bound, reset: func() { e.reset(len(l.chosen)) },
		}, err
	}}
}

var (
	extenderByName = withExtender("extender", "HTTP extender, nodeCacheCapable: true", true)
	extenderByNode = withExtender("extender-literal", "HTTP extender, nodeCacheCapable: false", false)
)

// berth shares out by a PropagationPolicy.
func berth(name, title string, configuration func(c *Configurations) string) peer {
	return peer{name: name, title: title, start: func(ctx context.Context, l *layout, c *Configurations) (*contestant, error) {
		deployment, set := webDeployment()
		r, err := newRig(ctx, l, &setup{
			configuration: configuration(c), kube: []runtime.Object{deployment, set}, berth: sitesAndPolicy(l),
		})
		return &contestant{
			rig: r, shares: l.shares(replicas), pod: func(number int) *corev1.Pod { return ownedPod(set, number) },
		}, err
	}}
}

func shipped(c *Configurations) string  { return c.Shipped }
func addsOnly(c *Configurations) string { return c.AddsOnly }

var (
	berthShipped  = berth("berth", "Berth, shipped profile", shipped)
	berthAddsOnly = berth("berth-adds-only", "Berth, plugins added to the stock settings", addsOnly)
)

// bystander places plain pods with Berth, while another namespace has a policy.
func bystander(name, title string, configuration func(c *Configurations) string) peer {
	return peer{name: name, title: title, start: func(ctx context.Context, l *layout, c *Configurations) (*contestant, error) {
		r, err := newRig(ctx, l, &setup{configuration: configuration(c), berth: sitesAndPolicy(l)})
		return &contestant{rig: r, pod: func(number int) *corev1.Pod { return workloadPod(number).Namespace(elsewhere).Obj() }}, err
	}}
}

var (
	bystanderShipped  = bystander("berth", "Berth, shipped profile, plain pods", shipped)
	bystanderAddsOnly = bystander("berth-adds-only", "Berth, plugins added to the stock settings, plain pods", addsOnly)
)
