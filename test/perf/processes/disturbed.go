// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth.dev/berth/test/internal/proxy"
	"berth.dev/berth/test/perf/report"
)

// disturbance is what goes on while a backlog is placed.
type disturbance struct {
	name, title string
	// every is the pause between two changes, 0 for none.
	every time.Duration
	// change makes the i-th change.
	change func(ctx context.Context, w *world, namespace string, i int) error
	// policies says that there is nothing like it without a policy, and times how many times as many
	// pods there are, so that it happens several times.
	policies bool
	times    int
}

// disturbances are the ways in which a roll-out is disturbed, the first one not at all.
func disturbances(relay *proxy.Relay) []disturbance {
	return []disturbance{
		{name: "none", title: "nothing"},
		{name: "flaps", title: "20 nodes a second become unready, and others ready again", every: 25 * time.Millisecond, change: flap},
		{name: "labels", title: "100 labels of nodes a second change", every: 10 * time.Millisecond,
			change: func(ctx context.Context, w *world, _ string, i int) error { return w.touchNode(ctx, i) }},
		{name: "edits", title: "the policy is edited each second", every: time.Second, policies: true, change: editPolicy},
		{name: "watches", title: "all connections to the API server end every three seconds", every: 3 * time.Second, times: 3,
			change: func(context.Context, *world, string, int) error { relay.Sever(); return nil }},
	}
}

// flapping is how many nodes are unready at a time.
const flapping = 10

// flap makes a node unready as the controllers of Kubernetes do, and ready again a moment later.
func flap(ctx context.Context, w *world, _ string, i int) error {
	node, taints := nodeName(i/2%w.Nodes), []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	if i%2 == 1 {
		node, taints = nodeName((i/2+w.Nodes-flapping)%w.Nodes), []corev1.Taint{}
	}
	_, err := w.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patchOf("spec", "taints", taints), metav1.PatchOptions{})
	return err
}

// editPolicy changes what the first of the clusters has.
func editPolicy(ctx context.Context, w *world, namespace string, i int) error {
	api := w.berth.BerthV1alpha1().PropagationPolicies(namespace)
	policy, err := api.Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	policy.Spec.Placement.StaticWeightList[0].Weight = int64(weightOf(0) + 1 - i%2)
	_, err = api.Update(ctx, policy, metav1.UpdateOptions{})
	return err
}

// UsualDisturbed is what a full run measures, a part of which factor says.
func UsualDisturbed(factor float64) Options {
	return Options{Rounds: 1, Peers: regexp.MustCompile(`^(stock|policy)$`), Nodes: max(100, int(1000*factor)), Pods: max(4, int(40*factor)) * 25}
}

// RunDisturbed measures how much a roll-out is slowed down by what goes on beside it.
func RunDisturbed(ctx context.Context, out io.Writer, o Options) (found []report.Disturbed, err error) {
	err = within(ctx, out, &o, func(w *world) (err error) {
		relay, err := proxy.StartRelay(ctx, strings.TrimPrefix(w.plane.URL(), "https://"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, relay.Stop()) }()
		w.counting = true
		if err := w.createNodes(ctx, w.Nodes, w.sites(), w.Pods); err != nil {
			return err
		}
		all := disturbances(relay)
		found = make([]report.Disturbed, len(all))
		for round := range w.Rounds {
			for i := range all {
				found[i].Name, found[i].Title = all[i].name, all[i].title
				if err := w.disturbed(ctx, &all[i], round, relay, &found[i]); err != nil {
					return fmt.Errorf("disturbed by %s: %w", all[i].name, err)
				}
			}
		}
		return nil
	})
	return found, err
}

// disturbed lets the default scheduler place plain pods, and Berth those of a policy.
func (w *world) disturbed(ctx context.Context, by *disturbance, round int, relay *proxy.Relay, found *report.Disturbed) error {
	for _, p := range w.chosen(w.backlogPeers()) {
		if by.policies && p.program.stock() {
			continue
		}
		if p.pods = w.Pods; by.times > 1 {
			p.pods *= by.times
			p.rest = p.pods / 5 // some are tried again only after minutes
		}
		p.limited = false // the shares are others each time that somebody edits the policy
		p.program.args = append(p.program.args, "--master=https://"+relay.Address())
		namespace := fmt.Sprintf("disturbed-%s-%s-%d", by.name, p.name, round)
		if err := w.createNamespace(ctx, namespace); err != nil {
			return err
		}
		controllers, err := w.controllerManager()
		if err != nil {
			return err
		}
		d := found.Of(p.name, p.title)
		d.Pods = p.pods
		end := w.keepOn(ctx, by, namespace)
		err = w.drainIn(ctx, &p, namespace, controllers, d)
		if err := errors.Join(err, end()); err != nil {
			return err
		}
		last := len(d.PodsPerSecond) - 1
		w.sayf("disturbed by %s, round %d of %d: %s: %.0f pods/s, %.2f ms CPU and %.3f decisions a pod",
			by.title, round+1, w.Rounds, p.name, d.PodsPerSecond[last], d.CPUMilliseconds[last], d.Attempts[last])
	}
	return nil
}

// keepOn goes on to make changes until the function is called that it returns.
func (w *world) keepOn(ctx context.Context, by *disturbance, namespace string) (end func() error) {
	if by.change == nil {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	ended, ticker := make(chan error, 1), time.NewTicker(by.every)
	var failed atomic.Pointer[error]
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			err := by.change(ctx, w, namespace, i)
			if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				failed.Store(&err)
			}
		}
	}()
	return func() error {
		cancel()
		ticker.Stop()
		<-ended
		if err := failed.Load(); err != nil {
			return fmt.Errorf("changing %s: %w", strconv.Quote(by.title), *err)
		}
		return nil
	}
}
