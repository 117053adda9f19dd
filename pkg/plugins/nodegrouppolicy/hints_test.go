// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugins/nodegrouppolicy"
	"berth.dev/berth/pkg/plugintest"
)

// hint asks the plugin whether an event of the resource should wake the pod.
func hint(t *testing.T, s *plugintest.Scheduler, resource fwk.EventResource, pod *corev1.Pod, before, after any) fwk.QueueingHint {
	t.Helper()
	return s.Hint(nodegrouppolicy.Name, resource, pod, before, after)
}

func TestHintsOfPods(t *testing.T) {
	d, rs := deployment("nginx", 2)
	waiting := plugintest.MakePodOf(rs, 9).Obj()
	bound := plugintest.MakePodOf(rs, 1).Node("beijing-0").Obj()
	changed := func(pod *corev1.Pod, change func(p *corev1.Pod)) *corev1.Pod {
		p := pod.DeepCopy()
		change(p)
		return p
	}
	terminating := changed(bound, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })
	otherRevision := changed(bound, func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another-revision" })
	elsewhere := changed(bound, func(p *corev1.Pod) { p.Namespace = "elsewhere" })
	unbound := changed(bound, func(p *corev1.Pod) { p.Spec.NodeName = "" })
	nominated := changed(unbound, func(p *corev1.Pod) { p.Status.NominatedNodeName = "beijing-0" })
	bare := plugintest.MakePod("task-0").Obj()
	tests := map[string]struct {
		pod           *corev1.Pod
		before, after *corev1.Pod
		want          fwk.QueueingHint
	}{
		"a sibling is deleted":                     {waiting, bound, nil, fwk.Queue},
		"a sibling begins to be deleted":           {waiting, bound, terminating, fwk.Queue},
		"a sibling is released by its owner":       {waiting, bound, changed(bound, func(p *corev1.Pod) { p.OwnerReferences = nil }), fwk.Queue},
		"a nominated sibling is deleted":           {waiting, nominated, nil, fwk.Queue},
		"a sibling changes otherwise":              {waiting, bound, changed(bound, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }), fwk.QueueSkip},
		"a sibling appears":                        {waiting, nil, bound, fwk.QueueSkip},
		"a sibling that was terminating is gone":   {waiting, terminating, nil, fwk.QueueSkip},
		"a terminating sibling changes":            {waiting, terminating, terminating, fwk.QueueSkip},
		"a sibling that waits is deleted":          {waiting, unbound, nil, fwk.QueueSkip},
		"a pod of another revision is deleted":     {waiting, otherRevision, nil, fwk.QueueSkip},
		"a pod of another namespace is deleted":    {waiting, elsewhere, nil, fwk.QueueSkip},
		"a pod without an owner is deleted":        {waiting, changed(bare, func(p *corev1.Pod) { p.Spec.NodeName = "beijing-0" }), nil, fwk.QueueSkip},
		"pods without owners: another one is gone": {bare, changed(bare, func(p *corev1.Pod) { p.UID, p.Spec.NodeName = "other", "beijing-0" }), nil, fwk.Queue},
		"pods without owners: an owned one is gone": {
			bare, bound, nil, fwk.QueueSkip,
		},
		"its own nomination ends": {waiting, changed(waiting, func(p *corev1.Pod) { p.Status.NominatedNodeName = "beijing-0" }), nil, fwk.QueueSkip},
		"it asks for another policy": {
			waiting, waiting, changed(waiting, func(p *corev1.Pod) {
				p.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "none"}
			}), fwk.Queue,
		},
		"its labels change":                       {waiting, waiting, changed(waiting, func(p *corev1.Pod) { p.Labels["tier"] = "gold" }), fwk.Queue},
		"it gets an owner":                        {bare, bare, changed(bare, func(p *corev1.Pod) { p.OwnerReferences = waiting.OwnerReferences }), fwk.Queue},
		"the scheduler notes on it that it waits": {waiting, waiting, changed(waiting, func(p *corev1.Pod) { p.Status.Conditions = make([]corev1.PodCondition, 1) }), fwk.QueueSkip},
		"an annotation of no interest is added":   {waiting, waiting, changed(waiting, func(p *corev1.Pod) { p.Annotations = map[string]string{"color": "red"} }), fwk.QueueSkip},
	}
	s := newTwoSites(t, beijingHangzhou().Obj(), d, rs)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hint(t, s, fwk.Pod, tc.pod, objectOrNil(tc.before), objectOrNil(tc.after)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestHintsOfNodes(t *testing.T) {
	d, rs := deployment("nginx", 2)
	policy := beijingHangzhou().Obj()
	node := func(site string) *corev1.Node {
		return plugintest.MakeNode("node", 7).Label(plugintest.SiteLabel, site).Obj()
	}
	cordoned := node("beijing")
	cordoned.Spec.Unschedulable = true
	known := plugintest.MakePodOf(rs, 9).Obj()
	askingForMissing := plugintest.MakePodOf(rs, 9).Annotation(berthv1alpha1.PolicyAnnotation, "missing").Obj()
	withoutPolicy := plugintest.MakePodOf(rs, 9).Annotation(berthv1alpha1.PolicyAnnotation, "none").Obj()
	_, stranger := deployment("unknown", 1)
	tests := map[string]struct {
		pod           *corev1.Pod
		before, after *corev1.Node
		want          fwk.QueueingHint
	}{
		"a node of a cluster of the policy appears":          {known, nil, node("beijing"), fwk.Queue},
		"a node of another cluster appears":                  {known, nil, node("elsewhere"), fwk.QueueSkip},
		"a node of no cluster appears":                       {known, nil, node("nowhere"), fwk.QueueSkip},
		"a node joins a cluster of the policy":               {known, node("nowhere"), node("beijing"), fwk.Queue},
		"a node moves between clusters of the policy":        {known, node("hangzhou"), node("beijing"), fwk.Queue},
		"a node leaves, and its replicas no longer count":    {known, node("beijing"), node("elsewhere"), fwk.Queue},
		"a node stays in its cluster":                        {known, cordoned, node("beijing"), fwk.QueueSkip},
		"a node moves between other clusters":                {known, node("elsewhere"), node("nowhere"), fwk.QueueSkip},
		"for a pod that waits for a policy no node helps":    {askingForMissing, nil, node("beijing"), fwk.QueueSkip},
		"for a pod that waits for its owner no node helps":   {plugintest.MakePodOf(stranger, 0).Obj(), nil, node("beijing"), fwk.QueueSkip},
		"for a pod without a policy any node may be good":    {withoutPolicy, nil, node("nowhere"), fwk.Queue},
		"for a pod by turn a node of its policy is good":     {cloneSetPod(0), nil, node("beijing"), fwk.Queue},
		"for a pod by turn a node of another one is no good": {cloneSetPod(0), nil, node("elsewhere"), fwk.QueueSkip},
	}
	s := newTwoSites(t, plugintest.Site("elsewhere"), policy, cloneSetPolicy().Obj(), d, rs)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hint(t, s, fwk.Node, tc.pod, objectOrNil(tc.before), objectOrNil(tc.after)); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// objectOrNil keeps a nil pointer from becoming an interface that is not nil.
func objectOrNil[T any](object *T) any {
	if object == nil {
		return nil
	}
	return object
}

func TestHintsBeforePoliciesHaveBeenRead(t *testing.T) {
	s := plugintest.New(t, plugintest.Sites(1, "beijing"), plugintest.Held())
	// The first snapshot wakes all pods; until then thousands of nodes appear and none of them is
	// of use.
	got := hint(t, s, fwk.Node, plugintest.MakePod("pod").Obj(), nil, plugintest.MakeNode("beijing", 1).Obj())
	if got != fwk.QueueSkip {
		t.Errorf("got %v, want %v", got, fwk.QueueSkip)
	}
}

// create makes an object at the API server, and waits until the scheduler knows it.
func create(t *testing.T, s *plugintest.Scheduler, objects ...runtime.Object) {
	t.Helper()
	for _, object := range objects {
		if err := s.Kube.Tracker().Add(object); err != nil {
			t.Fatal(err)
		}
		accessor, ok := object.(metav1.Object)
		if !ok {
			t.Fatalf("%T has no metadata", object)
		}
		s.WaitFor("the informer", func() bool { return s.Knows(accessor) })
	}
}

func TestWhatWakesARejectedPod(t *testing.T) {
	ctx := t.Context()
	update := metav1.UpdateOptions{}
	tests := map[string]func(t *testing.T, s *plugintest.Scheduler, waiting, sibling *corev1.Pod) error{
		"a sibling is being deleted": func(_ *testing.T, s *plugintest.Scheduler, _, sibling *corev1.Pod) error {
			terminating := sibling.DeepCopy()
			now := metav1.Now()
			terminating.DeletionTimestamp, terminating.ResourceVersion = &now, "2"
			_, err := s.Kube.CoreV1().Pods(plugintest.Namespace).Update(ctx, terminating, update)
			return err
		},
		"a sibling is gone": func(_ *testing.T, s *plugintest.Scheduler, _, sibling *corev1.Pod) error {
			return s.Kube.CoreV1().Pods(plugintest.Namespace).Delete(ctx, sibling.Name, metav1.DeleteOptions{})
		},
		"the pod asks for no policy": func(_ *testing.T, s *plugintest.Scheduler, waiting, _ *corev1.Pod) error {
			asking := waiting.DeepCopy()
			asking.Annotations, asking.ResourceVersion = map[string]string{berthv1alpha1.PolicyAnnotation: "none"}, "2"
			_, err := s.Kube.CoreV1().Pods(plugintest.Namespace).Update(ctx, asking, update)
			return err
		},
		"the Deployment grows": func(t *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			t.Helper()
			d := plugintest.Deployment("nginx", 3)
			d.ResourceVersion = "2"
			_, err := s.Kube.AppsV1().Deployments(plugintest.Namespace).Update(ctx, d, update)
			return err
		},
		"the Deployment gets labels": func(t *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			t.Helper()
			d := plugintest.Deployment("nginx", 1)
			d.Labels, d.ResourceVersion = map[string]string{"tier": "gold"}, "2"
			_, err := s.Kube.AppsV1().Deployments(plugintest.Namespace).Update(ctx, d, update)
			return err
		},
		"the policy changes": func(_ *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			policy := beijingHangzhou().Anyway().Obj()
			policy.Generation = 2
			_, err := s.Berth.BerthV1alpha1().PropagationPolicies(plugintest.Namespace).Update(ctx, policy, update)
			return err
		},
		"the policy goes": func(_ *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			return s.Berth.BerthV1alpha1().PropagationPolicies(plugintest.Namespace).Delete(ctx, "web", metav1.DeleteOptions{})
		},
		"a cluster of the policy changes": func(_ *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			cluster := plugintest.Site("beijing")
			cluster.Generation, cluster.Spec.Nodes = 2, []string{"hangzhou-0"}
			_, err := s.Berth.BerthV1alpha1().Clusters().Update(ctx, cluster, update)
			return err
		},
		"a cluster of no policy claims a node": func(_ *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			cluster := plugintest.Site("elsewhere")
			cluster.Spec = berthv1alpha1.ClusterSpec{Nodes: []string{"hangzhou-0"}}
			_, err := s.Berth.BerthV1alpha1().Clusters().Create(ctx, cluster, metav1.CreateOptions{})
			return err
		},
		"a node leaves its cluster": func(_ *testing.T, s *plugintest.Scheduler, _, _ *corev1.Pod) error {
			node := plugintest.MakeNode("hangzhou", 0).Label(plugintest.SiteLabel, "elsewhere").Obj()
			node.ResourceVersion = "2"
			_, err := s.Kube.CoreV1().Nodes().Update(ctx, node, update)
			return err
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			d, rs := deployment("nginx", 1)
			s := plugintest.New(t, []runtime.Object{
				plugintest.Site("beijing"), plugintest.Site("hangzhou"), beijingHangzhou().Obj(),
			})
			sibling := plugintest.MakePodOf(rs, 0).Node("hangzhou-0").Obj()
			waiting := plugintest.MakePodOf(rs, 1).Obj()
			create(t, s, plugintest.MakeNode("beijing", 0).Obj(), plugintest.MakeNode("hangzhou", 0).Obj(), d, rs, sibling, waiting)
			if attempt := s.FailUntilSleeps(waiting); attempt.Reasons()["node(s) in clusters that have their share of replicas"] != 2 {
				t.Fatalf("the pod was rejected for another reason: %s", attempt.Why())
			}
			if err := change(t, s, waiting, sibling); err != nil {
				t.Fatal(err)
			}
			s.WaitFor("the pod to wake up", func() bool { return !s.Sleeps(waiting) })
		})
	}
}

func TestWhatWakesAPodWithoutItsOwner(t *testing.T) {
	d, rs := deployment("nginx", 1)
	tests := map[string]struct{ known, missing runtime.Object }{
		"the Deployment appears": {known: rs, missing: d},
		"the ReplicaSet appears": {known: d, missing: rs},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newTwoSites(t, beijingHangzhou().Obj(), tc.known)
			waiting := plugintest.MakePodOf(rs, 1).Obj()
			create(t, s, waiting)
			s.FailUntilSleeps(waiting)
			create(t, s, tc.missing)
			s.WaitFor("the pod to wake up", func() bool { return !s.Sleeps(waiting) })
		})
	}
}

func TestPostFilterSendsThePodBackAtOnce(t *testing.T) {
	d, rs := deployment("nginx", 1)
	s := newTwoSites(t, beijingHangzhou().Anyway().Obj(), d, rs)
	occupyPort(s, "hangzhou")
	waiting := plugintest.MakePodOf(rs, 0).HostPort(80).Obj()
	create(t, s, waiting)
	s.FailNext()
	if s.Sleeps(waiting) {
		t.Error("the pod waits for an event, although it may go elsewhere")
	}
}
