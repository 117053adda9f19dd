// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/test/integration/internal/installation"
)

// witness follows every revision of the pods of a site, and knows at each what is charged to each
// pool of a ClusterResource. It shares no code with what it checks.
type witness struct {
	resource    string
	allocatable map[string]int

	mu      sync.Mutex
	pods    map[types.UID]*corev1.Pod
	charged map[string]int
	// highest is the most that was ever charged to each pool.
	highest  map[string]int
	breaches []string
	// binds are when pods were seen bound for the first time.
	binds     []time.Time
	revisions int
}

// watchFrom begins before the first pod of the site is created. Allocatable is by pool.
func (s *site) watchFrom(ctx context.Context, resource string, allocatable map[string]int) *witness {
	GinkgoHelper()
	pods := client.CoreV1().Pods(s.namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(list.Items).To(BeEmpty(), "the witness must come first")
	w := &witness{
		resource: s.full(resource), allocatable: allocatable,
		pods: map[types.UID]*corev1.Pod{}, charged: map[string]int{}, highest: map[string]int{},
	}
	installation.Follow(list.ResourceVersion, pods.Watch, w.see)
	return w
}

func (w *witness) see(event watch.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revisions++
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		w.breaches = append(w.breaches, fmt.Sprintf("revisions were lost: %v", event.Object))
		return
	}
	before := w.pods[pod.UID]
	w.book(before, -1)
	if event.Type == watch.Deleted {
		delete(w.pods, pod.UID)
		return
	}
	w.pods[pod.UID] = pod
	if (before == nil || before.Spec.NodeName == "") && pod.Spec.NodeName != "" {
		w.binds = append(w.binds, time.Now())
	}
	w.book(pod, 1)
	for name, sum := range w.charged {
		w.highest[name] = max(w.highest[name], sum)
		if sum > w.allocatable[name] {
			w.breaches = append(w.breaches, fmt.Sprintf(installation.GivenTwice+
				"%d of %d units of %s are charged at revision %s, with pod %s", sum, w.allocatable[name], name, pod.ResourceVersion, pod.Name))
		}
	}
}

// book adds what a pod is charged to the sums, or takes it away.
func (w *witness) book(pod *corev1.Pod, sign int) {
	if pod == nil || pod.Spec.NodeName == "" || terminal(pod) {
		return
	}
	text, charged := pod.Annotations[berthv1alpha1.ChargedAnnotation]
	if !charged {
		w.breaches = append(w.breaches, "pod "+pod.Name+" runs without having been charged")
	}
	for charge := range strings.SplitSeq(text, ",") {
		where, amount, _ := strings.Cut(charge, "=")
		resource, pool, _ := strings.Cut(where, "/")
		units, err := strconv.Atoi(amount)
		if err != nil || resource != w.resource {
			w.breaches = append(w.breaches, "pod "+pod.Name+" is charged "+text)
			continue
		}
		w.charged[pool] += sign * units
	}
}

func terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// expectNoBreach checks that no pool was ever charged more than is allocatable.
func (w *witness) expectNoBreach() {
	GinkgoHelper()
	w.mu.Lock()
	defer w.mu.Unlock()
	Expect(w.breaches).To(BeEmpty())
	Expect(w.revisions).NotTo(BeZero())
}

// bound returns how many pods have ever been bound.
func (w *witness) bound() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.binds)
}

// boundAt returns when the n-th binding was seen.
func (w *witness) boundAt(n int) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.binds[n]
}

// feasible returns the pods that wait although their pool, which is that of the zone they ask for,
// has enough for them.
func (w *witness) feasible() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for _, pod := range w.pods {
		zone := pod.Spec.NodeSelector[zoneLabel]
		if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && w.charged[zone]+w.units(pod) <= w.allocatable[zone] {
			names = append(names, pod.Name)
		}
	}
	return names
}

func (w *witness) units(pod *corev1.Pod) int {
	quantity := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceName(berthv1alpha1.ClusterResourceDomain+"/"+w.resource)]
	return int(quantity.Value())
}

// sums returns what is charged to each pool now.
func (w *witness) sums() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	sums := map[string]int{}
	for name := range w.allocatable {
		sums[name] = w.charged[name]
	}
	return sums
}

// fill returns how many pools were full at some time.
func (w *witness) fill() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	full := 0
	for name, most := range w.highest {
		if most == w.allocatable[name] {
			full++
		}
	}
	return full
}

// some returns a pod for which keep is true, nil if there is none.
func (w *witness) some(keep func(*corev1.Pod) bool) *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pod := range w.pods {
		if keep(pod) {
			return pod
		}
	}
	return nil
}

// reported returns what the status of a ClusterResource says is allocated of each pool.
func (s *site) reported(ctx context.Context, resource string) map[string]int {
	GinkgoHelper()
	sums := map[string]int{}
	for _, pool := range s.resource(ctx, resource).Status.Allocated {
		sums[pool.Name] = int(pool.Quantity.Value())
	}
	return sums
}
