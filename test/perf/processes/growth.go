// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/perf/internal/proc"
	"berth.dev/berth/test/perf/report"
)

const (
	// scalePatience is how long the controllers may take to get in step with a large cluster.
	scalePatience = 10 * time.Minute
	// quietFor is how long a process must have next to nothing to do before it counts as quiet, and
	// nextToNothing how much that is.
	quietFor      = 2 * time.Second
	nextToNothing = 100 * time.Millisecond
)

// scaleControllers measures berth-controller-manager in a large cluster: a first start, another one
// after which there is nothing to do, what changes cost, and what being idle costs.
func (w *world) scaleControllers(ctx context.Context, o *ScaleOptions, results *report.Scale) error {
	first, err := w.startOnce(ctx, "controllers-first")
	if err != nil {
		return err
	}
	results.Controllers.First = *first.start
	if err := first.process.Stop(stopGrace); err != nil {
		return err
	}
	again, err := w.startOnce(ctx, "controllers-again")
	if err != nil {
		return err
	}
	results.Controllers.Again = *again.start
	return errors.Join(w.changes(ctx, o, again.process, &results.Controllers), again.process.Stop(stopGrace))
}

// started is a process of the controllers and what its start has cost.
type started struct {
	process *localplane.Process
	start   *report.Start
}

// startOnce starts the controllers, and waits until they are in step: until the status of every
// policy is right, and then until they have nothing to do any more.
func (w *world) startOnce(ctx context.Context, name string) (s *started, err error) {
	user := controllersUser()
	if _, err := w.writesOf(user); err != nil {
		return nil, err
	}
	began := time.Now()
	process, err := w.plane.StartControllerManager(ctx, localplane.Component{Name: name, Env: w.ControllersEnv})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, process.Stop(stopGrace))
		}
	}()
	start := &report.Start{}
	if err := w.awaitPolicies(ctx); err != nil {
		return nil, err
	}
	worked, quiet, err := w.awaitQuiet(ctx, process.PID())
	if err != nil {
		return nil, err
	}
	start.Milliseconds, start.CPUMilliseconds = milliseconds(quiet.Sub(began)), milliseconds(worked)
	if start.Writes, err = w.writesOf(user); err != nil {
		return nil, err
	}
	if start.MemoryBytes, err = proc.PeakMemory(process.PID()); err != nil {
		return nil, err
	}
	w.sayf("controllers, %s: quiet after %.0f ms, %.0f ms CPU, %d writes, %.0f MiB",
		name, start.Milliseconds, start.CPUMilliseconds, start.Writes, start.MemoryBytes/(1<<20))
	return &started{process: process, start: start}, nil
}

func controllersUser() string {
	user, _ := localplane.ServiceAccountIdentity(localplane.BerthNamespace, localplane.BerthControllerManager)
	return user
}

// awaitPolicies waits until the status of each policy tells where all pods of its workload are.
func (w *world) awaitPolicies(ctx context.Context) error {
	replicas := map[string]int{}
	for i := range w.workloads {
		replicas[w.workloads[i].namespace+"/"+w.workloads[i].name] = w.workloads[i].replicas
	}
	policies, err := w.berth.BerthV1alpha1().PropagationPolicies(metav1.NamespaceAll).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("watching the policies: %w", err)
	}
	defer policies.Stop()
	_, err = awaitInSync(ctx, policies, scalePatience, len(replicas), func(policy *berthv1alpha1.PropagationPolicy) bool {
		want, ours := replicas[policy.Namespace+"/"+policy.Name]
		return ours && inStep(policy, want)
	})
	return err
}

// awaitQuiet waits until a process has nothing to do. It returns how long processors have worked
// for it until then, and when that was.
func (w *world) awaitQuiet(ctx context.Context, pid int) (worked time.Duration, since time.Time, err error) {
	last := time.Now()
	if worked, err = proc.CPUTime(pid); err != nil {
		return 0, last, err
	}
	for range int(scalePatience / quietFor) {
		if err := pause(ctx, quietFor); err != nil {
			return 0, last, err
		}
		now, err := proc.CPUTime(pid)
		if err != nil || now-worked <= nextToNothing {
			return worked, last, err
		}
		worked, last = now, time.Now()
	}
	return 0, last, fmt.Errorf("after %s the process is still at work", scalePatience)
}

// changes measures what the controllers do about single changes, and what they do about none.
func (w *world) changes(ctx context.Context, o *ScaleOptions, process *localplane.Process, c *report.ScaleControllers) error {
	idle := &report.Controllers{}
	if err := w.observeIdle(ctx, process.PID(), controllersUser(), idle); err != nil {
		return err
	}
	c.IdleSeconds, c.IdleWrites, c.IdleCPUMilliseconds = idle.IdleSeconds, idle.IdleWrites, idle.IdleCPUMilliseconds
	for _, kind := range []kindOfChange{
		{"a pod of a workload of its own", o.Changes, func(ctx context.Context, i int) error {
			return w.touchPod(ctx, &w.workloads[1+i%(len(w.workloads)-1)], 0, i)
		}},
		{"a pod of the largest workload", o.Changes, func(ctx context.Context, i int) error {
			return w.touchPod(ctx, &w.workloads[0], i%w.workloads[0].replicas, i)
		}},
		{"a label of a node", o.Changes, w.touchNode},
		{"the policy of the largest workload", min(o.Changes, 5), w.touchPolicy},
	} {
		one, err := w.measureChange(ctx, process.PID(), &kind)
		if err != nil {
			return err
		}
		c.Changes = append(c.Changes, *one)
		w.sayf("controllers, %s changes, %d times: %.2f ms CPU and %.2f writes each", one.What, one.Times, one.CPUMilliseconds, one.Writes)
	}
	return nil
}

// kindOfChange is something that is done so many times, to another object each time.
type kindOfChange struct {
	what   string
	times  int
	change func(ctx context.Context, i int) error
}

// measureChange returns what a change costs the controllers, the mean of all, beside what they have
// taken just before with nothing to do: a moment that is as short has a collection of garbage no
// more often than the changes have.
func (w *world) measureChange(ctx context.Context, pid int, kind *kindOfChange) (*report.Change, error) {
	resting, err := proc.CPUTime(pid)
	if err != nil {
		return nil, err
	}
	rested := max(quietFor, time.Duration(kind.times)*changePause)
	if err := pause(ctx, rested); err != nil {
		return nil, err
	}
	before, err := proc.CPUTime(pid)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for i := range kind.times {
		if err := kind.change(ctx, i); err != nil {
			return nil, fmt.Errorf("changing %s: %w", kind.what, err)
		}
		// One after the other, so that none is looked at together with the next one.
		if err := pause(ctx, changePause); err != nil {
			return nil, err
		}
	}
	after, quiet, err := w.awaitQuiet(ctx, pid)
	if err != nil {
		return nil, err
	}
	idle := milliseconds(before-resting) / rested.Seconds()
	worked := milliseconds(after-before) - idle*quiet.Sub(began).Seconds()
	writes, err := w.writesOf(controllersUser())
	return &report.Change{
		What: kind.what, Times: kind.times, CPUMilliseconds: worked / float64(kind.times), Writes: float64(writes) / float64(kind.times),
	}, err
}

// changePause lies between two changes.
const changePause = 50 * time.Millisecond

func patchOf(path ...any) []byte {
	value := path[len(path)-1]
	for i := len(path) - 2; i >= 0; i-- {
		value = map[string]any{fmt.Sprint(path[i]): value}
	}
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return content
}

// touchPod changes an annotation of a pod of a workload.
func (w *world) touchPod(ctx context.Context, x *workload, seat, i int) error {
	_, err := w.client.CoreV1().Pods(x.namespace).Patch(ctx, fmt.Sprintf("%s-1-%d", x.name, seat), types.MergePatchType,
		patchOf("metadata", "annotations", "example.com/changed", strconv.Itoa(i)), metav1.PatchOptions{})
	return err
}

// touchNode changes a label of a node that means nothing to anybody.
func (w *world) touchNode(ctx context.Context, i int) error {
	_, err := w.client.CoreV1().Nodes().Patch(ctx, nodeName(i%w.Nodes), types.MergePatchType,
		patchOf("metadata", "labels", "example.com/changed", strconv.Itoa(i)), metav1.PatchOptions{})
	return err
}

// touchPolicy changes the weights of the policy of the largest workload, in a way that leaves the
// shares as they are, and waits until its status tells of that.
func (w *world) touchPolicy(ctx context.Context, i int) error {
	x := &w.workloads[0]
	api := w.berth.BerthV1alpha1().PropagationPolicies(x.namespace)
	policy, err := api.Get(ctx, x.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	policy.Spec.Placement.StaticWeightList[0].Weight = int64(i + 2)
	if _, err := api.Update(ctx, policy, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return w.await(ctx, func(ctx context.Context) error {
		policy, err := api.Get(ctx, x.name, metav1.GetOptions{})
		if err == nil && !inStep(policy, x.replicas) {
			err = errors.New("the status of the policy is not right yet")
		}
		return err
	})
}
