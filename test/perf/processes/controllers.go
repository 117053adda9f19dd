// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/perf/internal/proc"
	"berth.dev/berth/test/perf/report"
)

// settle is how long the controllers may still have something to do after the last policy: the
// second look at what came while they wrote.
const settle = 2 * time.Second

// controllers measures the start of berth-controller-manager in a cluster that is at work, and what
// it does when nothing changes.
func (w *world) controllers(ctx context.Context, results *report.Processes) error {
	w.sayf("controllers: binding %d pods of %d policies", w.Policies*w.PodsEach, w.Policies)
	if err := w.createNodes(ctx, places, chosenSites, 0); err != nil {
		return err
	}
	if err := w.createBoundWorkloads(ctx); err != nil {
		return err
	}
	c := &report.Controllers{Policies: w.Policies, Pods: w.Policies * w.PodsEach}
	for n := range w.Starts {
		if err := w.dropStatus(ctx); err != nil {
			return err
		}
		if err := w.startControllers(ctx, n, c); err != nil {
			return err
		}
		w.sayf("controllers, start %d of %d: in step after %.0f ms", n+1, w.Starts, c.SyncMilliseconds[n])
	}
	results.Controllers = c
	return nil
}

// startControllers starts the process, and stops it when everything about it has been noted. The
// last one stays idle for a while.
func (w *world) startControllers(ctx context.Context, n int, c *report.Controllers) (err error) {
	user, _ := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthControllerManager)
	if _, err := w.writesOf(user); err != nil {
		return err
	}
	policies, err := w.berth.BerthV1alpha1().PropagationPolicies(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("watching the policies: %w", err)
	}
	defer policies.Stop()
	began := time.Now()
	process, err := w.plane.StartControllerManager(ctx, localplane.Component{Name: fmt.Sprintf("controllers-%d", n), Env: w.ControllersEnv})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, process.Stop(stopGrace)) }()
	inSync, err := awaitInSync(ctx, policies, patience, w.Policies, func(policy *berthv1alpha1.PropagationPolicy) bool {
		return inStep(policy, w.PodsEach)
	})
	if err != nil {
		return err
	}
	worked, err := proc.CPUTime(process.PID())
	if err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	writes, err := w.writesOf(user)
	if err != nil {
		return err
	}
	c.SyncMilliseconds = append(c.SyncMilliseconds, milliseconds(inSync.Sub(began)))
	c.SyncCPUMilliseconds = append(c.SyncCPUMilliseconds, milliseconds(worked))
	c.SyncWrites = append(c.SyncWrites, float64(writes))
	if n == w.Starts-1 {
		if err := w.observeIdle(ctx, process.PID(), user, c); err != nil {
			return err
		}
	}
	memory, err := proc.PeakMemory(process.PID())
	c.MemoryBytes = append(c.MemoryBytes, memory)
	return err
}

// observeIdle notes what a process does while nothing changes.
func (w *world) observeIdle(ctx context.Context, pid int, user string, c *report.Controllers) error {
	before, err := proc.CPUTime(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := pause(ctx, time.Duration(w.IdleSeconds)*time.Second); err != nil {
		return err
	}
	after, err := proc.CPUTime(pid)
	if err != nil {
		return err
	}
	c.IdleSeconds, c.IdleCPUMilliseconds = time.Since(began).Seconds(), milliseconds(after-before)
	c.IdleWrites, err = w.writesOf(user)
	return err
}

// writesOf counts the writes of a user that have been logged since the log was read last.
func (w *world) writesOf(user string) (int, error) {
	logged, err := w.log.Next()
	if err != nil {
		return 0, err
	}
	writes := 0
	for i := range logged {
		if logged[i].User == user && logged[i].Write() {
			writes++
		}
	}
	return writes, nil
}

// awaitInSync returns when the last of so many policies got a status that is right: that tells
// where all pods of its workload are.
func awaitInSync(
	ctx context.Context, policies watch.Interface, patience time.Duration, count int, isRight func(*berthv1alpha1.PropagationPolicy) bool,
) (time.Time, error) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	right := map[types.UID]bool{}
	for {
		select {
		case event, open := <-policies.ResultChan():
			if !open {
				return time.Time{}, errors.New("the watch of the policies has ended")
			}
			policy, ok := event.Object.(*berthv1alpha1.PropagationPolicy)
			if !ok || !isRight(policy) {
				continue
			}
			right[policy.UID] = true
			if len(right) == count {
				return time.Now(), nil
			}
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		case <-timeout.C:
			return time.Time{}, fmt.Errorf("after %s the status of %d of %d policies is right", patience, len(right), count)
		}
	}
}

// inStep reports whether the status of a policy tells that all pods of its workload are where they
// should be.
func inStep(policy *berthv1alpha1.PropagationPolicy, replicas int) bool {
	if policy.Status.ObservedGeneration != policy.Generation || len(policy.Status.Workloads) != 1 {
		return false
	}
	current := 0
	for _, cluster := range policy.Status.Workloads[0].Clusters {
		if cluster.Current != cluster.Desired {
			return false
		}
		current += int(cluster.Current)
	}
	return current == replicas
}

// dropStatus makes the policies and the Clusters such as no controller has seen them.
func (w *world) dropStatus(ctx context.Context) error {
	api := w.berth.BerthV1alpha1()
	policies, err := api.PropagationPolicies(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the policies: %w", err)
	}
	err = parallel(ctx, len(policies.Items), func(i int) error {
		policy := &policies.Items[i]
		policy.Status = berthv1alpha1.PropagationPolicyStatus{}
		_, err := api.PropagationPolicies(policy.Namespace).UpdateStatus(ctx, policy, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("dropping the status of the policies: %w", err)
	}
	clusters, err := api.Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the Clusters: %w", err)
	}
	return parallel(ctx, len(clusters.Items), func(i int) error {
		clusters.Items[i].Status = berthv1alpha1.ClusterStatus{}
		_, err := api.Clusters().UpdateStatus(ctx, &clusters.Items[i], metav1.UpdateOptions{})
		return err
	})
}

// pause lets time pass.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
