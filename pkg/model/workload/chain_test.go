// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/placement/policymatch"
)

// owning gives an object the controller "Kind name".
func owning[T metav1.Object](object T, apiVersion, kind, name string) T {
	object.SetOwnerReferences([]metav1.OwnerReference{*ownedBy(apiVersion, kind, name)})
	return object
}

func cronJob(name string) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: meta(name, nil),
		Spec:       batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template()}}},
	}
}

// chainOf tells a workload and what is above it, the workload first.
func chainOf(w *policymatch.Workload) []string {
	var chain []string
	for ; w != nil; w = w.Above {
		step := w.Kind + " " + w.Name
		if w.LabelsUnknown {
			step += ", not read"
		}
		chain = append(chain, step)
	}
	return chain
}

// tower are StatefulSets "s-1", "s-2" and so on, each controlled by the next.
func tower(height int, top *metav1.OwnerReference) []workload.Object {
	var objects []workload.Object
	for i := 1; i <= height; i++ {
		set := statefulSet(fmt.Sprintf("s-%d", i), "a", "a")
		switch {
		case i < height:
			owning(set, "apps/v1", "StatefulSet", fmt.Sprintf("s-%d", i+1))
		case top != nil:
			set.OwnerReferences = []metav1.OwnerReference{*top}
		}
		objects = append(objects, set)
	}
	return objects
}

func steps(from, to int) []string {
	var names []string
	for i := from; i <= to; i++ {
		names = append(names, fmt.Sprintf("StatefulSet s-%d", i))
	}
	return names
}

func TestWhatIsAboveAWorkload(t *testing.T) {
	set := ownedBy("apps/v1", "StatefulSet", "s-1")
	tests := map[string]struct {
		owner   *metav1.OwnerReference
		objects []workload.Object
		want    []string
		missing string
	}{
		"the Job of a CronJob": {
			ownedBy("batch/v1", "Job", "cron-1"),
			[]workload.Object{owning(job("cron-1", false), "batch/v1", "CronJob", "cron"), cronJob("cron")},
			[]string{"Job cron-1", "CronJob cron"}, "",
		},
		"a CronJob of an operator": {
			ownedBy("batch/v1", "Job", "cron-1"),
			[]workload.Object{
				owning(job("cron-1", false), "batch/v1", "CronJob", "cron"), owning(cronJob("cron"), "example.com/v1", "Backup", "nightly"),
			},
			[]string{"Job cron-1", "CronJob cron", "Backup nightly, not read"}, "",
		},
		"a Deployment of an operator": {
			ownedBy("apps/v1", "ReplicaSet", "web-v1"),
			[]workload.Object{
				owning(deployment("web", "1", 3), "example.com/v1", "Shop", "main"),
				replicaSet("web-v1", ownedBy("apps/v1", "Deployment", "web"), "1", 3),
			},
			[]string{"Deployment web", "Shop main, not read"}, "",
		},
		"a StatefulSet of an operator": {set, tower(1, ownedBy("example.com/v1", "Shop", "main")), []string{"StatefulSet s-1", "Shop main, not read"}, ""},
		"an owner of a version that is not served": {
			set, tower(1, ownedBy("apps/v9", "Deployment", "web")), []string{"StatefulSet s-1"}, "",
		},
		"a CronJob that is not there": {
			ownedBy("batch/v1", "Job", "cron-1"), []workload.Object{owning(job("cron-1", false), "batch/v1", "CronJob", "cron")}, nil, "CronJob ns/cron",
		},
		"two controllers on one object": {
			set, func() []workload.Object {
				below := statefulSet("s-1", "a", "a")
				below.OwnerReferences = []metav1.OwnerReference{*ownedBy("apps/v1", "StatefulSet", "s-2"), *ownedBy("apps/v1", "StatefulSet", "s-3")}
				return []workload.Object{below, statefulSet("s-2", "a", "a"), statefulSet("s-3", "a", "a")}
			}(), steps(1, 2), "",
		},
		"an owner that is being deleted": {
			set, func() []workload.Object {
				objects := tower(2, nil)
				objects[1].SetDeletionTimestamp(new(metav1.Now()))
				return objects
			}(), steps(1, 2), "",
		},
		"eight steps":     {set, tower(8, nil), steps(1, 8), ""},
		"more than eight": {set, tower(9, nil), steps(1, 8), ""},
		"more than eight, and the ninth is not there": {set, tower(8, ownedBy("apps/v1", "StatefulSet", "s-9")), steps(1, 8), ""},
		"eight with the ReplicaSet, and the ninth is not there": {
			ownedBy("apps/v1", "ReplicaSet", "web-v1"), append(tower(6, ownedBy("apps/v1", "StatefulSet", "s-7")),
				owning(deployment("web", "1", 3), "apps/v1", "StatefulSet", "s-1"), replicaSet("web-v1", ownedBy("apps/v1", "Deployment", "web"), "1", 3)),
			append([]string{"Deployment web"}, steps(1, 6)...), "",
		},
		"more than eight with the ReplicaSet": {
			ownedBy("apps/v1", "ReplicaSet", "web-v1"), append(tower(9, nil), owning(deployment("web", "1", 3), "apps/v1", "StatefulSet", "s-1"),
				replicaSet("web-v1", ownedBy("apps/v1", "Deployment", "web"), "1", 3)),
			append([]string{"Deployment web"}, steps(1, 6)...), "",
		},
		"fifty":              {set, tower(50, nil), steps(1, 8), ""},
		"a cycle":            {set, tower(1, set), slices.Repeat(steps(1, 1), 8), ""},
		"a pod of a CronJob": {ownedBy("batch/v1", "CronJob", "cron"), []workload.Object{cronJob("cron")}, []string{"CronJob cron"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pod("p", tc.owner)
			objects := &workload.Objects{Owners: tc.objects, Pods: []corev1.Pod{p}}
			w, err := workload.Of(&p, objects.Source())
			if tc.missing != "" {
				if !errors.Is(err, workload.ErrOwnerNotFound) || !strings.Contains(err.Error(), tc.missing) {
					t.Errorf("got error %v, want that %s is not found", err, tc.missing)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, chainOf(w.Selectable())); diff != "" {
				t.Errorf("the workload and what is above it (-want +got):\n%s", diff)
			}
			if w.ReplicasKnown != (w.Kind != "CronJob") {
				t.Errorf("the replicas of %s are known: %t", w.Kind, w.ReplicasKnown)
			}
			i := slices.IndexFunc(workload.Observe(objects), func(o *workload.Observed) bool { return len(o.Pods) == 1 })
			if o := workload.Observe(objects)[i]; o.ID() != w.ID() || !cmp.Equal(chainOf(o.Selectable()), tc.want) {
				t.Errorf("Observe finds %v, Of %v", chainOf(o.Selectable()), tc.want)
			}
		})
	}
}

func TestJobsOfACronJobAreWorkloadsEachForItself(t *testing.T) {
	objects := &workload.Objects{Owners: []workload.Object{
		cronJob("cron"), owning(job("cron-1", false), "batch/v1", "CronJob", "cron"), owning(job("cron-2", false), "batch/v1", "CronJob", "cron"),
	}}
	observed := workload.Observe(objects)
	var names []string
	for _, o := range observed {
		names = append(names, o.Kind+" "+o.Name)
		if above := o.AboveObjects(); len(above) != 1 || above[0].GetName() != "cron" {
			t.Errorf("above %s are %v, want the CronJob", o.Name, above)
		}
	}
	if diff := cmp.Diff([]string{"Job cron-1", "Job cron-2"}, names); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
	if a, b := observed[0].Revision, observed[1].Revision; a == b {
		t.Errorf("both share the seats of %+v", a)
	}
	if replicas, known := workload.ReplicasOf(&batchv1.CronJob{}); known || replicas != 0 {
		t.Errorf("a CronJob wants %d pods", replicas)
	}
	if _, known := workload.ReplicasOf(&appsv1.Deployment{}); !known {
		t.Error("a Deployment does not say how many pods it wants")
	}
}
