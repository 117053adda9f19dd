// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
)

// Observed is a workload with its pods. It holds shared objects and must not be changed.
type Observed struct {
	Workload
	// Generation of the workload object; 0 for kinds that are not read.
	Generation int64
	// Request is the value of the policy annotation of the pods: a policy's name, PolicyNone or
	// empty.
	Request string
	// Scheduler is the name of the scheduler that the pods ask for.
	Scheduler string
	// Selector selects the pods of the workload; nil for kinds that are not read.
	Selector labels.Selector
	// Revision is the revision that counts, the newest one.
	Revision Revision
	// Settled is true if the controller of the workload has seen the latest change and rolls
	// nothing out. Old pods may still be there; see RolloutFinished.
	Settled bool
	// Pods are all pods of the workload that are neither terminating nor finished.
	Pods []*corev1.Pod
	// Leaving are the pods that terminate on a node, of a workload that makes no other one before they
	// are gone: of a StatefulSet.
	Leaving []*corev1.Pod

	// above are the objects above that of the workload, and further looked up those that are not in
	// the table.
	above   []Object
	further FurtherSource
	// template of the pods, nil if it is not known.
	template *corev1.PodTemplateSpec
	// claims are templates of claims of volumes that each pod gets for itself.
	claims []corev1.PersistentVolumeClaim
	// kind of the workload, nil for those that are not read.
	kind *Kind
	// revision is the number of the latest revision of a Deployment, newest the highest of its
	// ReplicaSets.
	revision, newest int64
	// foreign is the ReplicaSet that counts of an owner that is not read, youngest the youngest pod
	// of one without any.
	foreign  Object
	youngest *corev1.Pod
}

// RequestedBy returns the pod whose annotation Request is, nil if Request is that of a template.
func (o *Observed) RequestedBy() *corev1.Pod { return o.youngest }

// Foreign reports whether the workload is of a kind beyond the table and was made out from its
// ReplicaSets.
func (o *Observed) Foreign() bool { return o.foreign != nil }

// AboveObjects returns the objects above that of the workload, the lowest first, as far as they are
// of kinds that are read.
func (o *Observed) AboveObjects() []Object { return o.above }

// Further returns what looked up the owners of kinds that are not in the table, nil if nothing did.
func (o *Observed) Further() FurtherSource { return o.further }

// RevisionKind returns the kind of the objects that are the revisions of the workload, nil if it
// keeps none.
func (o *Observed) RevisionKind() *Kind {
	if o.foreign != nil {
		return KindOf(o.foreign)
	}
	i := slices.IndexFunc(kinds, func(other *Kind) bool { return o.kind != nil && o.kind.numbered && other.revision })
	if i < 0 {
		return nil
	}
	return kinds[i]
}

// Bound returns the pods of the newest revision that are bound to a node. They are the replicas
// that count.
func (o *Observed) Bound() []*corev1.Pod {
	bound := make([]*corev1.Pod, 0, len(o.Pods))
	for _, pod := range o.Pods {
		if pod.Spec.NodeName != "" && o.counts(pod) {
			bound = append(bound, pod)
		}
	}
	return bound
}

// Pending returns the number of pods of the newest revision, or of all revisions, that are not
// bound.
func (o *Observed) Pending(allRevisions bool) int {
	pending := 0
	for _, pod := range o.Pods {
		if pod.Spec.NodeName == "" && (allRevisions || o.counts(pod)) {
			pending++
		}
	}
	return pending
}

// RolloutFinished reports whether all pods are of the newest revision and the workload's controller
// knows of no newer one.
func (o *Observed) RolloutFinished() bool {
	return o.Settled && !slices.ContainsFunc(o.Pods, func(pod *corev1.Pod) bool { return !o.counts(pod) })
}

func (o *Observed) counts(pod *corev1.Pod) bool {
	revision, _ := RevisionOf(pod)
	if o.Component == "" {
		revision.Component = o.Revision.Component // pods that name no part of the object are one workload
	}
	return revision == o.Revision
}

// Asks reports whether the workload is Berth's to place: it asks for one of the schedulers, or pods
// of it carry a stamp.
func (o *Observed) Asks(schedulers []string) bool {
	if slices.Contains(schedulers, o.Scheduler) {
		return true
	}
	return slices.ContainsFunc(o.Pods, func(pod *corev1.Pod) bool {
		_, stamped := stamp.Of(pod)
		return stamped
	})
}

// Compare orders workloads by kind, then by name, by group and by component.
func Compare(a, b *Observed) int {
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	if c := strings.Compare(a.APIVersion, b.APIVersion); c != 0 {
		return c
	}
	return strings.Compare(a.Component, b.Component)
}

// requestOf is the value of the policy annotation.
func requestOf(annotations map[string]string) string {
	return annotations[berthv1alpha1.PolicyAnnotation]
}

// Unmade returns how many pods of the workload there are, and how many of the wanted ones nobody
// has made although somebody could. Pods that are gated do not count as made: whoever gates them
// may never let them go. Kinds that make one pod after another, and those that are not read, may
// wait for a pod that is not ready; then none is missing. The workload may be nil.
func (o *Observed) Unmade(wanted int64) (made, unmade int64) {
	if o == nil {
		return 0, max(0, wanted)
	}
	waits := false
	for _, pod := range o.Pods {
		if len(pod.Spec.SchedulingGates) > 0 {
			continue
		}
		made++
		waits = waits || !Ready(pod)
	}
	if waits && (o.kind == nil || o.kind.ordered) {
		return made, 0
	}
	return made, max(0, wanted-made)
}
