// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package owners_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/owners"
	"berth.dev/berth/pkg/plugintest"
)

// world is an Owners over informers, and which pods it woke.
type world struct {
	*owners.Owners

	client *kubefake.Clientset
	mu     sync.Mutex
	woken  []string
}

// newWorld must be called in a synctest bubble, so that events can be waited for.
func newWorld(t *testing.T, objects ...runtime.Object) *world {
	t.Helper()
	w := &world{client: kubefake.NewClientset(objects...)}
	factory := informers.NewSharedInformerFactory(w.client, 0)
	var err error
	w.Owners, err = owners.New(factory, workload.NotRead{}, func(pods []*corev1.Pod) {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, pod := range pods {
			w.woken = append(w.woken, pod.Name)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	w.take()
	return w
}

// take returns the pods that have been woken since it was called last.
func (w *world) take() []string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	woken := slices.Sorted(slices.Values(w.woken))
	w.woken = nil
	return woken
}

// update puts the next version of objects to the API server.
func (w *world) update(t *testing.T, objects ...runtime.Object) {
	t.Helper()
	for _, object := range objects {
		var err error
		options := metav1.UpdateOptions{}
		switch o := object.(type) {
		case *appsv1.Deployment:
			_, err = w.client.AppsV1().Deployments(o.Namespace).Update(t.Context(), o, options)
		case *appsv1.ReplicaSet:
			_, err = w.client.AppsV1().ReplicaSets(o.Namespace).Update(t.Context(), o, options)
		case *appsv1.StatefulSet:
			_, err = w.client.AppsV1().StatefulSets(o.Namespace).Update(t.Context(), o, options)
		case *batchv1.Job:
			_, err = w.client.BatchV1().Jobs(o.Namespace).Update(t.Context(), o, options)
		case *batchv1.CronJob:
			_, err = w.client.BatchV1().CronJobs(o.Namespace).Update(t.Context(), o, options)
		case *corev1.ReplicationController:
			_, err = w.client.CoreV1().ReplicationControllers(o.Namespace).Update(t.Context(), o, options)
		default:
			t.Fatalf("no update of %T", object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// changed returns a changed copy.
func changed[T runtime.Object](t *testing.T, object T, change func(T)) T {
	t.Helper()
	changed, ok := object.DeepCopyObject().(T)
	if !ok {
		t.Fatalf("a copy of a %T is none", object)
	}
	change(changed)
	return changed
}

func TestWhatWakesPods(t *testing.T) {
	d := plugintest.Deployment("nginx", 2)
	rs := plugintest.ReplicaSet(d, "v1")
	alone := plugintest.ReplicaSet(d, "alone")
	alone.OwnerReferences = nil
	set, job, rc := plugintest.StatefulSet("db", 2), plugintest.Job("train", 2, 10), plugintest.ReplicationController("old", 2)
	cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: plugintest.Namespace, Name: "cron", UID: "cron"}}
	night := plugintest.Job("night", 2, 10)
	night.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	objects := []runtime.Object{d, rs, alone, set, job, rc, cron, night}
	for _, owner := range []metav1.Object{rs, alone, set, job, rc, night} {
		objects = append(objects, plugintest.MakePodOf(owner, 0).Obj(), plugintest.MakePodOf(owner, 1).Node("node").Obj(),
			plugintest.MakePodOf(owner, 2).Terminating().Obj())
	}
	three := ptr.To[int32](3)
	tests := map[string]struct {
		change runtime.Object
		want   []string
	}{
		"a Deployment grows":                {changed(t, d, func(d *appsv1.Deployment) { d.Spec.Replicas = three }), []string{"nginx-v1-0"}},
		"a Deployment gets labels":          {changed(t, d, func(d *appsv1.Deployment) { d.Labels = map[string]string{"tier": "gold"} }), []string{"nginx-v1-0"}},
		"another Deployment of the name":    {changed(t, d, func(d *appsv1.Deployment) { d.UID = "another" }), nil},
		"the status of a Deployment":        {changed(t, d, func(d *appsv1.Deployment) { d.Status.Replicas = 7 }), nil},
		"a rollout resizes its ReplicaSets": {changed(t, rs, func(rs *appsv1.ReplicaSet) { rs.Spec.Replicas = three }), nil},
		"a ReplicaSet is let go":            {changed(t, rs, func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = nil }), []string{"nginx-v1-0"}},
		"a ReplicaSet by itself grows":      {changed(t, alone, func(rs *appsv1.ReplicaSet) { rs.Spec.Replicas = three }), []string{"nginx-alone-0"}},
		"a StatefulSet shrinks":             {changed(t, set, func(s *appsv1.StatefulSet) { s.Spec.Replicas = nil }), []string{"db-0"}},
		"a StatefulSet counts from elsewhere": {
			changed(t, set, func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5} }), []string{"db-0"},
		},
		"the status of a StatefulSet":     {changed(t, set, func(s *appsv1.StatefulSet) { s.Status.Replicas = 7 }), nil},
		"a Job runs more at once":         {changed(t, job, func(j *batchv1.Job) { j.Spec.Parallelism = three }), []string{"train-0"}},
		"a Job is suspended":              {changed(t, job, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), []string{"train-0"}},
		"a Job gets to its last pods":     {changed(t, job, func(j *batchv1.Job) { j.Status.Succeeded = 9 }), []string{"train-0"}},
		"a Job gets on":                   {changed(t, job, func(j *batchv1.Job) { j.Status.Succeeded = 1 }), nil},
		"a CronJob gets labels":           {changed(t, cron, func(c *batchv1.CronJob) { c.Labels = map[string]string{"tier": "gold"} }), []string{"night-0"}},
		"a CronJob has run":               {changed(t, cron, func(c *batchv1.CronJob) { c.Status.LastScheduleTime = new(metav1.Now()) }), nil},
		"a ReplicationController grows":   {changed(t, rc, func(rc *corev1.ReplicationController) { rc.Spec.Replicas = three }), []string{"old-0"}},
		"nothing but the version changes": {changed(t, rc, func(rc *corev1.ReplicationController) { rc.ResourceVersion = "9" }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, objects...)
				w.update(t, tc.change)
				if diff := cmp.Diff(tc.want, w.take()); diff != "" {
					t.Errorf("woken pods (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAnOwnerThatAppearsWakesItsPods(t *testing.T) {
	d := plugintest.Deployment("nginx", 2)
	rs := plugintest.ReplicaSet(d, "v1")
	waiting := plugintest.MakePodOf(rs, 0).Obj()
	tests := map[string]struct {
		known   []runtime.Object
		missing runtime.Object
		want    []string
	}{
		"the Deployment":            {[]runtime.Object{rs, waiting}, d, []string{"nginx-v1-0"}},
		"the ReplicaSet":            {[]runtime.Object{d, waiting}, rs, []string{"nginx-v1-0"}},
		"one that nobody waits for": {[]runtime.Object{d, rs, waiting}, plugintest.StatefulSet("db", 1), nil},
		"another one of the name":   {[]runtime.Object{d, waiting}, changed(t, rs, func(rs *appsv1.ReplicaSet) { rs.UID = "another" }), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, tc.known...)
				if err := w.client.Tracker().Add(tc.missing); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, w.take()); diff != "" {
					t.Errorf("woken pods (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func namesOf(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(names)
	return names
}

func TestPendingPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		foreign := plugintest.MakePod("foreign").Namespace("elsewhere").Obj()
		w := newWorld(t, plugintest.MakePod("waiting").Obj(), plugintest.MakePod("bound").Node("node").Obj(),
			plugintest.MakePod("going").Terminating().Obj(), foreign)
		for namespace, want := range map[string][]string{
			"default": {"default/waiting"}, "elsewhere": {"elsewhere/foreign"}, "empty": nil,
			"": {"default/waiting", "elsewhere/foreign"},
		} {
			if diff := cmp.Diff(want, namesOf(w.Pending(namespace))); diff != "" {
				t.Errorf("pods that wait in %q (-want +got):\n%s", namespace, diff)
			}
		}
		if diff := cmp.Diff([]string{"default/bound"}, namesOf(w.BoundPods())); diff != "" {
			t.Errorf("bound pods (-want +got):\n%s", diff)
		}

		bound := changed(t, foreign, func(p *corev1.Pod) { p.Spec.NodeName = "node" })
		if _, err := w.client.CoreV1().Pods("elsewhere").Update(t.Context(), bound, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := namesOf(w.Pending("elsewhere")); got != nil {
			t.Errorf("%v wait after they were bound", got)
		}
	})
}

// wantOwner checks that the owner of a kind and name is found if it exists, and in no other
// namespace.
func (w *world) wantOwner(t *testing.T, kind *workload.Kind, name string, exists bool) {
	t.Helper()
	got, err := w.Owner(kind, plugintest.Namespace, name)
	if !exists {
		if !apierrors.IsNotFound(err) {
			t.Errorf("the %s %s: got %v, %v, want not found", kind.Kind, name, got, err)
		}
		return
	}
	if err != nil || got.GetName() != name || workload.KindOf(got) != kind {
		t.Errorf("the %s %s: got %v, %v", kind.Kind, name, got, err)
	}
	if _, err := w.Owner(kind, "elsewhere", name); !apierrors.IsNotFound(err) {
		t.Errorf("the %s %s in another namespace: got error %v, want not found", kind.Kind, name, err)
	}
}

func TestLookups(t *testing.T) {
	d := plugintest.Deployment("nginx", 2)
	rs := plugintest.ReplicaSet(d, "v1")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, d, rs, plugintest.StatefulSet("db", 1), plugintest.Job("train", 1, 1),
			plugintest.ReplicationController("old", 1), plugintest.MakePod("pod").Obj())
		lookups := map[string]string{
			"nginx": "Deployment", "nginx-v1": "ReplicaSet", "db": "StatefulSet", "train": "Job", "old": "ReplicationController",
		}
		for _, kind := range workload.Kinds() {
			for name, of := range lookups {
				w.wantOwner(t, kind, name, kind.Kind == of)
			}
		}
		owned := plugintest.MakePodOf(rs, 0).Obj()
		if got := testing.AllocsPerRun(10, func() { workload.Of(owned, w) }); got != 0 { //nolint:errcheck // found above
			t.Errorf("looking for the workload of a pod makes %v allocations, want none", got)
		}
		if pod := w.Pod(plugintest.Namespace, "pod"); pod == nil || pod.Name != "pod" {
			t.Errorf("looking for the pod: got %v", pod)
		}
		if pod := w.Pod("elsewhere", "pod"); pod != nil {
			t.Errorf("looking for the pod in another namespace: got %v", pod)
		}
	})
}

// There are more names than are remembered without a lock.
func TestLookupsOfManyNames(t *testing.T) {
	const many = 1500
	var objects []runtime.Object
	for i := range many {
		objects = append(objects, plugintest.Deployment(fmt.Sprintf("web-%d", i), 1))
	}
	kind := workload.KindFor("apps/v1", "Deployment")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, objects...)
		for range 2 {
			for i := range many {
				w.wantOwner(t, kind, fmt.Sprintf("web-%d", i), true)
			}
		}
	})
}
