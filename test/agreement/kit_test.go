// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agreement_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/controllers/adviser/advisertest"
	"berth.dev/berth/pkg/controllers/dispatcher"
	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/controllers/state"
	"berth.dev/berth/pkg/generated/clientset/versioned"
	berthfake "berth.dev/berth/pkg/generated/clientset/versioned/fake"
	"berth.dev/berth/pkg/plugintest"
)

// serve returns an API server in memory that has copies of the objects.
func serve(t *testing.T, objects []client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, berthv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&berthv1alpha1.PropagationPolicy{}).
		WithIndex(&berthv1alpha1.Cluster{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} })
	for _, o := range objects {
		b.WithRuntimeObjects(o.DeepCopyObject())
	}
	return b.Build()
}

// dispatch returns the home that the dispatcher gives to each pod. Each cluster is bound to a
// scheduler of its name.
func dispatch(t *testing.T, objects []client.Object) map[string]string {
	t.Helper()
	homed := make([]client.Object, 0, len(objects))
	for _, o := range objects {
		cluster, ok := o.(*berthv1alpha1.Cluster)
		if !ok {
			homed = append(homed, o)
			continue
		}
		cluster = cluster.DeepCopy()
		cluster.Status.HomeScheduler = cluster.Name
		scheduler := &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}}
		apimeta.SetStatusCondition(&scheduler.Status.Conditions,
			metav1.Condition{Type: berthv1alpha1.SchedulerReady, Status: metav1.ConditionTrue})
		homed = append(homed, cluster, scheduler)
	}
	api := serve(t, homed)
	r := dispatcher.Reconciler{
		Client: api, Writer: api, Topology: state.NewTracker(api), Clock: testclock.NewFakeClock(start),
		SchedulerNames: []string{plugintest.Profile}, Adviser: advisertest.New(t, api),
	}
	if _, err := r.Reconcile(t.Context(), struct{}{}); err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := api.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	homes := map[string]string{}
	for i := range pods.Items {
		homes[pods.Items[i].Name] = pods.Items[i].Labels[berthv1alpha1.HomeSchedulerLabel]
	}
	return homes
}

// start is the time of the clocks.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// evictor notes which pods the policy controller evicts.
type evictor struct{ evicted []string }

func (e *evictor) Evict(_ context.Context, pod *corev1.Pod) error {
	e.evicted = append(e.evicted, pod.Name)
	return nil
}

// control runs the policy controller for some hours. It returns the names of the pods that it
// evicted, and an API server with what it wrote.
func control(t *testing.T, objects []client.Object) (evicted []string, after client.Client) {
	t.Helper()
	api, e, clock := serve(t, objects), &evictor{}, testclock.NewFakePassiveClock(start)
	r := policy.New(policy.Options{
		Adviser: advisertest.New(t, api),
		Client:  api, Live: api, Topology: state.NewTracker(api), Evictor: e, Recorder: events.NewFakeRecorder(100), Clock: clock,
		Schedulers: []string{plugintest.Profile},
		Restamps:   flowcontrol.NewFakeAlwaysRateLimiter(),
	})
	for range 4 {
		clock.SetTime(clock.Now().Add(time.Hour))
		if _, err := r.Reconcile(t.Context(), plugintest.Namespace); err != nil {
			t.Fatal(err)
		}
	}
	return e.evicted, api
}

// berthctl runs a command that prints JSON, and reads what it prints.
func berthctl(t *testing.T, objects []client.Object, into any, args ...string) {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	kube, berth := kubefake.NewClientset(), berthfake.NewSimpleClientset()
	for _, o := range objects {
		var err error
		switch o.(type) {
		case *berthv1alpha1.Cluster, *berthv1alpha1.PropagationPolicy:
			err = berth.Tracker().Add(o.DeepCopyObject())
		default:
			err = kube.Tracker().Add(o.DeepCopyObject())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var out, errOut bytes.Buffer
	code := cli.Run(t.Context(), cli.Options{
		Streams: genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut},
		NewClients: func(genericclioptions.RESTClientGetter) (kubernetes.Interface, versioned.Interface, error) {
			return kube, berth, nil
		},
	}, append(args, "--output=json"))
	if code != 0 {
		t.Fatalf("berthctl %v: exit status %d: %s", args, code, &errOut)
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("berthctl %v: %v\n%s", args, err, &out)
	}
}
