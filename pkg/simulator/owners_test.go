// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugintest"
)

// TestOwnersOfEveryKindAreKnown has a Job of an object of each kind beside a policy for others.
// Whether that is in force for its pods can only be told if the object is known.
func TestOwnersOfEveryKindAreKnown(t *testing.T) {
	for _, kind := range workload.Kinds() {
		t.Run(kind.Resource, func(t *testing.T) {
			owner, job := kind.NewObject(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: plugintest.Namespace, Name: "job", UID: "job"}}
			owner.SetNamespace(plugintest.Namespace)
			owner.SetName("x")
			owner.SetUID("x")
			job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind.GroupVersionKind)}
			pod := plugintest.MakePod("p").Obj()
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
			s := snapshot(t, plugintest.Site("beijing"), plugintest.MakeNode("beijing", 0).Obj(), owner, job,
				plugintest.MakePolicy("others").Deployment("other").Weight(1, "beijing").Obj())
			if outcome, err := s.TrySchedule(t.Context(), pod); err != nil || outcome.Node == "" {
				t.Errorf("the pod waits (%v): %s", err, outcome.Reasons)
			}
		})
	}
}
