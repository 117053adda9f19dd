// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package feedinventory_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/subscription"
	"berth.dev/berth/pkg/plugins/feedinventory"
	"berth.dev/berth/pkg/plugintest"
)

type change func(*berthv1alpha1.Subscription)

var web = berthv1alpha1.Feed{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}

// subscription returns one that divides the Deployment web by room, and has not been divided.
func makeSubscription(changes ...change) *berthv1alpha1.Subscription {
	s := &berthv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: plugintest.Deployment("web", 1).Namespace, Name: "shop", UID: "shop"},
		Spec: berthv1alpha1.SubscriptionSpec{
			SchedulingStrategy: berthv1alpha1.DynamicDividingStrategy, Feeds: []berthv1alpha1.Feed{web},
		},
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

// divided tells that the feed was divided for so many replicas.
func divided(replicas int32) change {
	return func(s *berthv1alpha1.Subscription) {
		s.Status.Feeds = []berthv1alpha1.FeedPlacement{{Feed: web, Replicas: &replicas}}
	}
}

func bundle(s *berthv1alpha1.Subscription) {
	s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Admission: berthv1alpha1.BundleAdmission}
}

func pledged(s *berthv1alpha1.Subscription) { s.Status.Pledge = &berthv1alpha1.Pledge{} }

func static(s *berthv1alpha1.Subscription) {
	s.Spec.SchedulingStrategy = berthv1alpha1.DividingStrategy
	s.Spec.DividingScheduling = &berthv1alpha1.DividingScheduling{Type: berthv1alpha1.StaticDividingType}
}

// release makes the Subscription list a Helm release.
func release(s *berthv1alpha1.Subscription) {
	s.Spec.Feeds = []berthv1alpha1.Feed{{HelmRelease: "store"}}
}

// helm marks an object as part of that release.
func helm(o *metav1.ObjectMeta) {
	o.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	o.Annotations = map[string]string{"meta.helm.sh/release-name": "store", "meta.helm.sh/release-namespace": o.Namespace}
}

func installed(d *appsv1.Deployment) { helm(&d.ObjectMeta) }

func policy() *berthv1alpha1.PropagationPolicy {
	return plugintest.MakePolicy(subscription.PolicyName("shop", &web)).Deployment("web").Weight(1, "a").Obj()
}

func podOf(d *appsv1.Deployment) (*appsv1.ReplicaSet, *corev1.Pod) {
	set := plugintest.ReplicaSet(d, "1")
	return set, plugintest.MakePodOf(set, 0).Obj()
}

func TestPodsWaitUntilTheirSubscriptionIsDivided(t *testing.T) {
	tests := map[string]struct {
		subscription *berthv1alpha1.Subscription
		noPolicy     bool
		pod          func(*corev1.Pod)
		deployment   func(*appsv1.Deployment)
		want         string // the reason, empty for a pod that may go
	}{
		"divided":               {subscription: makeSubscription(divided(3))},
		"not divided":           {subscription: makeSubscription(), want: "the Subscription of the pod has not been divided for its replicas yet"},
		"without its policy":    {subscription: makeSubscription(divided(3)), noPolicy: true, want: "the Subscription of the pod has not been divided for its replicas yet"},
		"for other replicas":    {subscription: makeSubscription(divided(2)), want: "the Subscription of the pod has not been divided for its replicas yet"},
		"weights serve any":     {subscription: makeSubscription(static, divided(2))},
		"bundle not admitted":   {subscription: makeSubscription(bundle, divided(3)), want: "the bundle of the pod waits until all its feeds fit, see the condition Scheduled of the Subscription"},
		"bundle that has room":  {subscription: makeSubscription(bundle, divided(3), pledged)},
		"copied whole":          {subscription: makeSubscription(divided(3), func(s *berthv1alpha1.Subscription) { s.Status.Feeds[0].Replicas = nil }), noPolicy: true},
		"another feed":          {subscription: makeSubscription(func(s *berthv1alpha1.Subscription) { s.Spec.Feeds[0].Name = "db" })},
		"another namespace":     {subscription: makeSubscription(func(s *berthv1alpha1.Subscription) { s.Namespace = "elsewhere" })},
		"no Subscription":       {},
		"a policy of the pod's": {subscription: makeSubscription(), pod: func(p *corev1.Pod) { p.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "none"} }},
		"not known what it wants": {subscription: makeSubscription(divided(3), func(s *berthv1alpha1.Subscription) {
			s.Status.Feeds[0].Replicas, s.Status.Feeds[0].Message = nil, "the FeedInventory does not tell of it yet"
		}), want: "the Subscription of the pod has not been divided for its replicas yet"},
		"of a release that is listed": {
			subscription: makeSubscription(release), deployment: installed,
			want: "the Subscription of the pod has not been divided for its replicas yet",
		},
		"of a release that has been looked at": {
			subscription: makeSubscription(release, divided(3), func(s *berthv1alpha1.Subscription) {
				s.Status.HelmReleases = []berthv1alpha1.HelmRelease{{Name: "store", Objects: []berthv1alpha1.Feed{web}}}
			}), deployment: installed,
		},
		"of another release":     {subscription: makeSubscription(release, func(s *berthv1alpha1.Subscription) { s.Spec.Feeds[0].HelmRelease = "b" }), deployment: installed},
		"of no release":          {subscription: makeSubscription(release)},
		"a pod of a release":     {subscription: makeSubscription(release), pod: func(p *corev1.Pod) { p.OwnerReferences = nil; helm(&p.ObjectMeta) }, want: "the Subscription of the pod has not been divided for its replicas yet"},
		"a pod with Helm's mark": {subscription: makeSubscription(release), pod: func(p *corev1.Pod) { helm(&p.ObjectMeta) }},
		"owner not known": {
			subscription: makeSubscription(), want: "the owner of the pod does not exist or is not known yet, and with it whether it is a feed",
			pod: func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			deployment := plugintest.Deployment("web", 3)
			if tc.deployment != nil {
				tc.deployment(deployment)
			}
			set, pod := podOf(deployment)
			objects := append(plugintest.Sites(1, "a"), deployment, set)
			if tc.subscription != nil {
				objects = append(objects, tc.subscription)
			}
			if !tc.noPolicy {
				objects = append(objects, policy())
			}
			s := plugintest.New(t, objects)
			if tc.pod != nil {
				tc.pod(pod)
			}
			if got := s.PreEnqueue(pod).Message(); got != tc.want {
				t.Errorf("the pod waits for %q, want %q", got, tc.want)
			}
		})
	}
}

func TestPodsAreWokenWhenTheirSubscriptionIsDivided(t *testing.T) {
	deployment := plugintest.Deployment("web", 3)
	set, pod := podOf(deployment)
	waiting := makeSubscription()
	s := plugintest.New(t, append(plugintest.Sites(1, "a"), deployment, set, waiting, policy()))
	s.Add(pod)
	s.SchedulingQueue.Add(klog.FromContext(s.Context()), pod)
	if !s.Sleeps(pod) {
		t.Fatal("the pod is not held back")
	}
	after := makeSubscription(divided(3))
	after.ResourceVersion = "2"
	if err := s.Berth.Tracker().Update(berthv1alpha1.SchemeGroupVersion.WithResource("subscriptions"), after, after.Namespace); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("the pod to be woken", func() bool { return !s.Sleeps(pod) })
}

func TestPodsOfAReleaseAreWokenWhenItIsListedNoMore(t *testing.T) {
	deployment := plugintest.Deployment("web", 3)
	installed(deployment)
	set, pod := podOf(deployment)
	s := plugintest.New(t, append(plugintest.Sites(1, "a"), deployment, set, makeSubscription(release), policy()))
	s.Add(pod)
	s.SchedulingQueue.Add(klog.FromContext(s.Context()), pod)
	if !s.Sleeps(pod) {
		t.Fatal("the pod is not held back")
	}
	after := makeSubscription(func(s *berthv1alpha1.Subscription) { s.Spec.Feeds[0].Name = "db" })
	after.ResourceVersion, after.Generation = "2", 2
	if err := s.Berth.Tracker().Update(berthv1alpha1.SchemeGroupVersion.WithResource("subscriptions"), after, after.Namespace); err != nil {
		t.Fatal(err)
	}
	s.WaitFor("the pod to be woken", func() bool { return !s.Sleeps(pod) })
}

func TestSubscriptionsAreNotInstalled(t *testing.T) {
	s := plugintest.New(t, plugintest.Sites(1, "a"))
	if status := s.PreEnqueue(plugintest.MakePod("bare").Obj()); !status.IsSuccess() {
		t.Errorf("a pod waits for %q", status.Message())
	}
}

func TestHint(t *testing.T) {
	s := plugintest.New(t, nil)
	_, pod := podOf(plugintest.Deployment("web", 3))
	after := pod.DeepCopy()
	after.Annotations = map[string]string{berthv1alpha1.PolicyAnnotation: "none"}
	stranger := after.DeepCopy()
	stranger.UID = "stranger"
	for name, tc := range map[string]struct {
		after *corev1.Pod
		want  fwk.QueueingHint
	}{"it asks for no policy": {after, fwk.Queue}, "nothing": {pod, fwk.QueueSkip}, "another pod": {stranger, fwk.QueueSkip}} {
		if got := s.Hint(feedinventory.Name, fwk.Pod, pod, pod, tc.after); got != tc.want {
			t.Errorf("%s: hint %v, want %v", name, got, tc.want)
		}
	}
}

func TestPodsOfOthersCostNothing(t *testing.T) {
	var objects []runtime.Object
	s := plugintest.New(t, append(objects, makeSubscription(func(s *berthv1alpha1.Subscription) { s.Namespace = "elsewhere" })))
	var plugin fwk.PreEnqueuePlugin
	for _, p := range s.Framework.PreEnqueuePlugins() {
		if p.Name() == feedinventory.Name {
			plugin = p
		}
	}
	pod, ctx := plugintest.MakePod("bare").Obj(), s.Context()
	if got := testing.AllocsPerRun(100, func() { plugin.PreEnqueue(ctx, pod) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
