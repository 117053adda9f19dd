// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
)

// witness follows every revision of the pods of a namespace and of ClusterResources. It shares no
// code with what it checks.
type witness struct {
	mu sync.Mutex
	// most is how much of each pool pods may hold.
	most      map[string]int64
	pods      map[types.UID]*corev1.Pod
	held      map[string]int64
	breaches  []string
	revisions int
	grantees  map[string]bool
	moves     int
}

func observe(ctx context.Context, namespace string, most map[string]int64) *witness {
	GinkgoHelper()
	w := &witness{most: most, pods: map[types.UID]*corev1.Pod{}, held: map[string]int64{}, grantees: map[string]bool{}}
	pods := client.CoreV1().Pods(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(list.Items).To(BeEmpty(), "the witness must come first")
	installation.Follow(list.ResourceVersion, pods.Watch, w.counted(w.seePod))
	resources := berth.BerthV1alpha1().ClusterResources()
	all, err := resources.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	installation.Follow(all.ResourceVersion, resources.Watch, w.counted(w.seeResource))
	return w
}

func (w *witness) counted(see func(watch.EventType, runtime.Object)) func(watch.Event) {
	return func(event watch.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.revisions++
		see(event.Type, event.Object)
	}
}

func (w *witness) breachf(format string, args ...any) {
	w.breaches = append(w.breaches, fmt.Sprintf(format, args...))
}

func (w *witness) seePod(kind watch.EventType, object runtime.Object) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		w.breachf("revisions were lost: %v", object)
		return
	}
	if before := w.pods[pod.UID]; before != nil {
		w.book(before, -1)
		if before.Spec.NodeName != "" && before.Spec.NodeName != pod.Spec.NodeName {
			w.breachf(installation.GivenTwice+"pod %s was bound twice", pod.Name)
		}
	}
	if kind == watch.Deleted {
		delete(w.pods, pod.UID)
		return
	}
	w.pods[pod.UID] = pod
	w.book(pod, 1)
	for name, held := range w.held {
		if held > w.most[name] {
			w.breachf(installation.GivenTwice+"pods hold %d of %d units of %s at revision %s", held, w.most[name], name, pod.ResourceVersion)
		}
	}
}

// book adds what a pod holds to the sums, or takes it away.
func (w *witness) book(pod *corev1.Pod, sign int64) {
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	text := pod.Annotations["berth.dev/charged"]
	where, amount, _ := strings.Cut(text, "=")
	units, err := strconv.ParseInt(amount, 10, 64)
	if err != nil || pod.Annotations["berth.dev/grantee"] == "" {
		w.breachf("pod %s runs, charged %q", pod.Name, text)
		return
	}
	w.grantees[pod.Annotations["berth.dev/grantee"]] = true
	w.held[where] += sign * units
}

func (w *witness) seeResource(_ watch.EventType, object runtime.Object) {
	resource, ok := object.(*berthv1alpha1.ClusterResource)
	if !ok {
		w.breachf("revisions were lost: %v", object)
		return
	}
	granted, allocatable := map[string]int64{}, map[string]int64{}
	for _, g := range resource.Status.Grants {
		granted[g.Pool] += g.Quantity.Value()
		if g.ShrinkTo != nil {
			w.moves++
		}
	}
	for _, p := range resource.Status.Allocatable {
		allocatable[p.Name] = p.Quantity.Value()
	}
	for name, units := range granted {
		if units > allocatable[name] {
			w.breachf(installation.GivenTwice+"%d of %d units of %s/%s are granted at revision %s", units, allocatable[name], resource.Name, name,
				resource.ResourceVersion)
		}
	}
}

// expectNoBreach checks that no pool was ever given out beyond what there is.
func (w *witness) expectNoBreach() {
	GinkgoHelper()
	w.mu.Lock()
	defer w.mu.Unlock()
	Expect(w.breaches).To(BeEmpty())
	Expect(w.revisions).NotTo(BeZero())
}

// bound returns how many pods have a node.
func (w *witness) bound() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.filter(func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }))
}

// feasible returns the pods that wait although one of their pools has enough for them.
func (w *witness) feasible() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.filter(func(pod *corev1.Pod) bool {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
			return false
		}
		units, _ := strconv.ParseInt(pod.Annotations[requestKey], 10, 64)
		return slices.ContainsFunc(poolsOf(pod), func(name string) bool { return w.held[name]+units <= w.most[name] })
	})
}

// running returns the names of pods with a node that nobody deletes.
func (w *witness) running() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.filter(func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil })
}

func (w *witness) filter(keep func(*corev1.Pod) bool) []string {
	var names []string
	for _, pod := range w.pods {
		if keep(pod) {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

// placers returns the schedulers out of whose grants pods were ever charged.
func (w *witness) placers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.grantees))
}

// size returns how many pods there are.
func (w *witness) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pods)
}

// lower says that there is less of a pool from now on.
func (w *witness) lower(name string, units int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = maps.Clone(w.most)
	w.most[name] = units
}
