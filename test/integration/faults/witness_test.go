// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package faults_test

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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"berth.dev/berth/test/integration/internal/installation"
)

// witness follows every revision of the pods of a namespace. It shares no code with what it checks.
type witness struct {
	mu        sync.Mutex
	pods      map[types.UID]*corev1.Pod
	units     int64
	breaches  []string
	revisions int
}

// observe starts a witness. There are so many units of everything that pods ask for.
func observe(ctx context.Context, namespace string, units int64) *witness {
	GinkgoHelper()
	w := &witness{pods: map[types.UID]*corev1.Pod{}, units: units}
	pods := client.CoreV1().Pods(namespace)
	list, err := pods.List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(list.Items).To(BeEmpty(), "the witness must come first")
	installation.Follow(list.ResourceVersion, pods.Watch, w.see)
	return w
}

func (w *witness) see(event watch.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		w.breaches = append(w.breaches, fmt.Sprintf("revisions were lost: %v", event.Object))
		return
	}
	w.revisions++
	delete(w.pods, pod.UID)
	if event.Type != watch.Deleted {
		w.pods[pod.UID] = pod
	}
	if breach := w.breach(); breach != "" {
		w.breaches = append(w.breaches, fmt.Sprintf(installation.GivenTwice+"revision %s: %s", pod.ResourceVersion, breach))
	}
}

// breach says what is held twice, nothing if all is well.
func (w *witness) breach() string {
	held, seats := map[string]int64{}, map[string][]string{}
	for _, pod := range w.pods {
		if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			book(pod, held, seats)
		}
	}
	for where, units := range held {
		if units > w.units {
			return fmt.Sprintf("%d of %d units of %s are held", units, w.units, where)
		}
	}
	for place, pods := range seats {
		if len(pods) > 1 {
			return fmt.Sprintf("%s has %v", place, slices.Sorted(slices.Values(pods)))
		}
	}
	return ""
}

// book adds what a pod holds: units until it has ended, and its seat until somebody deletes it.
func book(pod *corev1.Pod, held map[string]int64, seats map[string][]string) {
	if where, amount, charged := strings.Cut(pod.Annotations["berth.dev/charged"], "="); charged {
		units, err := strconv.ParseInt(amount, 10, 64)
		Expect(err).NotTo(HaveOccurred())
		held[where] += units
	}
	if seat := pod.Annotations["berth.dev/seat"]; seat != "" && pod.DeletionTimestamp == nil {
		place := pod.Labels["app"] + " in " + pod.Annotations["berth.dev/cluster"] + " seat " + seat
		seats[place] = append(seats[place], pod.Name)
	}
}

// bound returns how many pods of an application have a node.
func (w *witness) bound(app string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pod := range maps.Values(w.pods) {
		if pod.Labels["app"] == app && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// size returns how many pods there are.
func (w *witness) size() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pods)
}

// seen returns how many revisions there have been.
func (w *witness) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.revisions
}

// found returns what was held twice at any revision.
func (w *witness) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.breaches)
}
