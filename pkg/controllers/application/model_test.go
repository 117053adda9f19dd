// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	modelpolicy "berth.dev/berth/pkg/model/policy"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/apportion"
)

// place is a Cluster with what the model knows of it.
type place struct {
	fleet *fleet
	name  string
	// dead keeps pods from running, crashes lets none become ready, and refuses lets the scheduler
	// find no node.
	dead, crashes, refuses bool
}

func (f *fleet) place(name string) *place {
	i := slices.IndexFunc(f.clusters, func(p *place) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return f.clusters[i]
}

// placeOf returns where a pod runs.
func (f *fleet) placeOf(pod *corev1.Pod) *place {
	return f.place(strings.TrimSuffix(pod.Spec.NodeName, "-0"))
}

// deployment returns the Deployment of an Application, nil if there is none yet.
func (a *tenant) deployment() *appsv1.Deployment {
	d, _ := a.fleet.objects["Deployment"][client.ObjectKey{Namespace: a.key.Namespace, Name: "front"}].(*appsv1.Deployment)
	return d
}

// policy returns the policy of the Deployment, nil if there is none yet.
func (a *tenant) policy() *berthv1alpha1.PropagationPolicy {
	p, _ := a.fleet.objects["PropagationPolicy"][a.policyKey].(*berthv1alpha1.PropagationPolicy)
	return p
}

// observe is what the policy controller does: it gives the pods their seats.
func (a *tenant) observe() {
	known := a.policy()
	if known == nil {
		return
	}
	seen := known.DeepCopy()
	seen.Status.ObservedGeneration = seen.Generation
	a.fleet.put(seen)
	a.adopt()
	a.restamp()
	a.poke()
}

// adopt marks pods that have a node and no mark, since their policy had been deleted.
func (a *tenant) adopt() {
	for _, pod := range a.pods() {
		if _, bound := stamp.Of(pod); !bound && pod.Spec.NodeName != "" {
			after := pod.DeepCopy()
			placed := stamp.Stamp{Policy: a.policy().Name, Cluster: a.fleet.placeOf(pod).name, Seat: math.MaxInt32 - 1}
			maps.Copy(after.Annotations, placed.Annotations(after, after.Spec.NodeName))
			a.fleet.put(after)
		}
	}
}

// order returns the order of the seats of the Deployment.
func (a *tenant) order() *apportion.Order {
	compiled := modelpolicy.Compile(a.policy(), nil)
	if compiled.Err != nil {
		a.fleet.tb.Fatalf("%s: the policy cannot be carried out: %v", a.key, compiled.Err)
	}
	return compiled.Order
}

// restamp gives the pods of each cluster its lowest seats, and those beyond its share higher ones
// than all others.
func (a *tenant) restamp() {
	order, taken := a.order(), map[string][]*corev1.Pod{}
	for _, pod := range a.pods() {
		if placed, bound := stamp.Of(pod); bound {
			taken[placed.Cluster] = append(taken[placed.Cluster], pod)
		}
	}
	for seat := range int64(*a.deployment().Spec.Replicas) {
		owner, owned := order.OwnerOf(seat)
		if !owned {
			continue
		}
		if name := order.Name(owner); len(taken[name]) > 0 {
			a.cost(taken[name][0], seat)
			taken[name] = taken[name][1:]
		}
	}
	for _, rest := range taken {
		for _, pod := range rest {
			a.cost(pod, math.MaxInt32-1)
		}
	}
}

func (a *tenant) cost(pod *corev1.Pod, seat int64) {
	if text := strconv.FormatInt(-seat, 10); pod.Annotations[corev1.PodDeletionCost] != text {
		after := pod.DeepCopy()
		after.Annotations[corev1.PodDeletionCost] = text
		a.fleet.put(after)
	}
}

// fill is what the controller of the Deployment does.
func (a *tenant) fill() {
	d := a.deployment()
	if d == nil || a.policy() == nil {
		return
	}
	pods, wanted := a.pods(), int(*d.Spec.Replicas)
	if len(pods) > wanted {
		slices.SortStableFunc(pods, func(x, y *corev1.Pod) int {
			return cmp.Or(unboundFirst(x, y), unreadyFirst(x, y), cmp.Compare(costOf(x), costOf(y)), cmp.Compare(numberOf(y), numberOf(x)))
		})
		victims := pods[:len(pods)-wanted]
		if a.fleet.shrunk != nil {
			a.fleet.shrunk(a, pods, victims)
		}
		for _, pod := range victims {
			a.deletePod(pod)
		}
		return
	}
	if a.quota && len(pods) < wanted {
		a.fleet.after(20*time.Second, a.fill)
		return
	}
	for range wanted - len(pods) {
		a.names++
		name := fmt.Sprintf("front-%d", a.names)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: a.key.Namespace, Name: name, UID: types.UID(a.key.Name + name)}}
		pod.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: a.policy().Name}
		pod.Spec.SchedulerName = "berth-scheduler"
		a.fleet.put(pod)
		a.fleet.after(a.fleet.between(50*time.Millisecond, time.Second), func() { a.schedule(client.ObjectKeyFromObject(pod)) })
	}
}

func unboundFirst(x, y *corev1.Pod) int {
	return trueFirst(x.Spec.NodeName == "", y.Spec.NodeName == "")
}

func unreadyFirst(x, y *corev1.Pod) int { return trueFirst(!workload.Ready(x), !workload.Ready(y)) }

func trueFirst(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return -1
	}
	return 1
}

func costOf(pod *corev1.Pod) int64 {
	return stamp.ParseDeletionCost(pod.Annotations[corev1.PodDeletionCost])
}

// deletePod deletes a pod, which ends once its node can be reached.
func (a *tenant) deletePod(pod *corev1.Pod) {
	if pod.Spec.NodeName != "" && a.fleet.placeOf(pod).dead {
		after := pod.DeepCopy()
		after.DeletionTimestamp = &metav1.Time{Time: a.fleet.clock.Now()}
		a.fleet.put(after)
	} else {
		a.fleet.remove(pod)
	}
	a.poke()
}

// pod returns a pod that is not being deleted, nil if there is none.
func (a *tenant) pod(key client.ObjectKey) *corev1.Pod {
	pod, ok := a.fleet.objects["Pod"][key].(*corev1.Pod)
	if !ok || !workload.Lives(pod) {
		return nil
	}
	return pod
}

// schedule is what the scheduler does for a pod.
func (a *tenant) schedule(key client.ObjectKey) {
	pod := a.pod(key)
	if pod == nil || pod.Spec.NodeName != "" {
		return
	}
	if a.policy() == nil { // Its pods wait for it.
		a.fleet.after(5*time.Second, func() { a.schedule(key) })
		return
	}
	after, to := pod.DeepCopy(), a.receiver()
	if to == "" {
		if !workload.Unschedulable(pod) {
			after.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				Message: "0/30 nodes are available", LastTransitionTime: metav1.NewTime(a.fleet.clock.Now()),
			}}
			a.fleet.put(after)
			a.poke()
		}
		a.fleet.after(5*time.Second, func() { a.schedule(key) })
		return
	}
	after.Spec.NodeName, after.Status.Conditions = to+"-0", nil
	placed := stamp.Stamp{Policy: a.policy().Name, Cluster: to, Seat: math.MaxInt32 - 1}
	maps.Copy(after.Annotations, placed.Annotations(after, after.Spec.NodeName))
	a.fleet.put(after)
	a.restamp()
	a.poke()
	a.fleet.after(a.starts, func() { a.becomeReady(key) })
}

// receiver returns the cluster that is short of most replicas and takes pods, empty if none is.
func (a *tenant) receiver() (best string) {
	order, there, most := a.order(), map[string]int64{}, int64(0)
	for _, pod := range a.pods() {
		if placed, bound := stamp.Of(pod); bound {
			there[placed.Cluster]++
		}
	}
	shares, _ := order.Shares(int64(*a.deployment().Spec.Replicas))
	for i, share := range shares {
		in := a.fleet.place(order.Name(i))
		if short := share - there[in.name]; short > most && !in.dead && !in.refuses && !a.fleet.stored(in.name).Spec.Unschedulable {
			best, most = in.name, short
		}
	}
	return best
}

// stored returns a Cluster as it is.
func (f *fleet) stored(name string) *berthv1alpha1.Cluster {
	return f.objects["Cluster"][client.ObjectKey{Name: name}].(*berthv1alpha1.Cluster)
}

// becomeReady is what a kubelet does when a pod has started.
func (a *tenant) becomeReady(key client.ObjectKey) {
	pod := a.pod(key)
	if pod == nil || workload.Ready(pod) {
		return
	}
	if in := a.fleet.placeOf(pod); in.dead || in.crashes {
		a.fleet.after(10*time.Second, func() { a.becomeReady(key) })
		return
	}
	a.setReady(pod, corev1.ConditionTrue)
}

func (a *tenant) setReady(pod *corev1.Pod, is corev1.ConditionStatus) {
	after := pod.DeepCopy()
	after.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodReady, Status: is, LastTransitionTime: metav1.NewTime(a.fleet.clock.Now()),
	}}
	a.fleet.put(after)
	a.poke()
}

func keyOf(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}
