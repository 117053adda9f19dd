// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/clustermetrics"
	"berth.dev/berth/pkg/plugintest"
)

// sleeper sends the pod through the queue until it waits for something that helps.
func sleeper(t *testing.T, s *plugintest.Scheduler, pod *corev1.Pod) {
	t.Helper()
	if _, err := s.Kube.CoreV1().Pods(pod.Namespace).Create(s.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.FailUntilSleeps(pod)
}

// change writes another state of a Cluster.
func change(t *testing.T, s *plugintest.Scheduler, cluster *berthv1alpha1.Cluster, edit func(*berthv1alpha1.Cluster)) {
	t.Helper()
	changed := cluster.DeepCopy()
	edit(changed)
	if _, err := s.Berth.BerthV1alpha1().Clusters().Update(s.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func setLoad(value float64) func(*berthv1alpha1.Cluster) {
	return func(c *berthv1alpha1.Cluster) {
		c.Status.Metrics = nil
		c.Spec.Metrics = nil
		measure(c, "load", value)
	}
}

func TestAVerdictThatFlipsWakesThePod(t *testing.T) {
	tests := map[string]struct {
		cluster     *berthv1alpha1.Cluster
		annotations []string
		edit        func(*berthv1alpha1.Cluster)
	}{
		"a metric": {measure(site("berlin"), "load", 7), []string{byMetric, "load < 5"}, setLoad(3)},
		"a label":  {site("berlin"), []string{byLabel, "location is DE"}, func(c *berthv1alpha1.Cluster) { c.Labels["location"] = "DE" }},
		"it comes online": {
			online(site("berlin", "location", "DE"), metav1.ConditionFalse), []string{byLabel, "location is DE"},
			func(c *berthv1alpha1.Cluster) { online(c, metav1.ConditionTrue) },
		},
		"a custom resource": {
			site("berlin"), []string{byResource, "a.b"},
			func(c *berthv1alpha1.Cluster) { c.Generation++; c.Spec.CustomResources = []string{"a.b"} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSites(t, tc.cluster)
			pod := asking("task", tc.annotations...)
			sleeper(t, s, pod)
			change(t, s, tc.cluster, tc.edit)
			s.WaitFor("the pod to be woken", func() bool { return !s.Sleeps(pod) })
			s.WaitFor("the pod to find its node", func() bool { return s.Try(pod).Node == "berlin-0" })
		})
	}
}

// The second pod is woken by the change that comes last; the first one must still sleep then.
func TestASampleThatFlipsNothingWakesNobody(t *testing.T) {
	berlin := measure(site("berlin"), "load", 7)
	s := newSites(t, berlin)
	pod, witness := asking("task", byMetric, "load < 5"), asking("witness", byMetric, "load > 8")
	sleeper(t, s, pod)
	sleeper(t, s, witness)
	for _, load := range []float64{6, 7, 6.5, 5, 9} {
		change(t, s, berlin, setLoad(load))
	}
	s.WaitFor("the witness to be woken", func() bool { return !s.Sleeps(witness) })
	if !s.Sleeps(pod) {
		t.Error("a value that still does not meet the constraint wakes the pod")
	}
}

func TestHints(t *testing.T) {
	s := newSites(t, site("berlin", "location", "DE"), site("madrid", "location", "ES"))
	pod := asking("task", byLabel, "location is DE")
	node := func(name, site string) *corev1.Node {
		n := plugintest.MakeNode(site, 7).Obj()
		n.Name = name
		return n
	}
	other := asking("other", byLabel, "location is ES")
	asksForMore := asking("task", byLabel, "location is ES")
	tests := map[string]struct {
		resource      fwk.EventResource
		before, after any
		want          fwk.QueueingHint
	}{
		"a node comes to a cluster that meets them": {fwk.Node, nil, node("new", "berlin"), fwk.Queue},
		"a node comes to a cluster that does not":   {fwk.Node, nil, node("new", "madrid"), fwk.QueueSkip},
		"a node comes to no cluster":                {fwk.Node, nil, node("new", "nowhere"), fwk.QueueSkip},
		"a node moves":                              {fwk.Node, node("x", "madrid"), node("x", "berlin"), fwk.Queue},
		"a node stays":                              {fwk.Node, node("x", "berlin"), node("x", "berlin"), fwk.QueueSkip},
		"the pod asks for something else":           {fwk.Pod, pod, asksForMore, fwk.Queue},
		"the pod changes otherwise":                 {fwk.Pod, pod, pod.DeepCopy(), fwk.QueueSkip},
		"another pod changes":                       {fwk.Pod, other, asking("other"), fwk.QueueSkip},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := s.Hint(clustermetrics.Name, tc.resource, pod, tc.before, tc.after); got != tc.want {
				t.Errorf("the hint is %v, want %v", got, tc.want)
			}
		})
	}
}
