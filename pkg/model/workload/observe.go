// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Observe returns the workloads that the objects make up, in the order of Compare. Each pod is
// looked at once, however many workloads there are. Pods whose owner is of a kind that is read, but
// is not among the objects, belong to nothing yet. Finished Jobs and workloads of kinds that are
// not read are there only while they have pods.
func Observe(objects *Objects) []*Observed {
	g := &gathering{source: objects.Source(), further: objects.Further, byID: map[ID]*Observed{}}
	for _, owner := range objects.Owners {
		g.addOwner(owner)
	}
	for i := range objects.Pods {
		switch pod := &objects.Pods[i]; {
		case Lives(pod):
			g.addPod(pod)
		case !Finished(pod) && pod.Spec.NodeName != "":
			g.addLeaving(pod)
		}
	}
	return g.finish()
}

// gathering collects workloads and hands each pod to its own.
type gathering struct {
	source  Source
	further FurtherSource
	byID    map[ID]*Observed
	order   []*Observed
}

// observed returns the workload as it has been observed so far.
func (g *gathering) observed(w *Workload) *Observed {
	id := w.ID()
	o := g.byID[id]
	if o == nil {
		o = &Observed{Workload: *w, newest: noRevision, further: g.further}
		g.byID[id] = o
		g.order = append(g.order, o)
	}
	return o
}

// addOwner adds an object as a workload, or as a revision of the one that it belongs to.
func (g *gathering) addOwner(object Object) {
	kind := KindOf(object)
	if kind.above {
		return // What it owns are workloads.
	}
	w, err := ofOwner(kind, object, g.source)
	if err != nil {
		return // Its owner is not known yet.
	}
	o := g.observed(&w)
	switch {
	case w.UID == object.GetUID():
		o.describe(kind, object)
		o.above = g.above(object)
	case KindFor(w.APIVersion, w.Kind) == nil:
		o.addForeignRevision(kind, object, w.Replicas)
	default:
		o.addRevision(kind, object)
	}
}

// above returns the objects that are above the object of a workload, as far as they are read.
func (g *gathering) above(object Object) []Object {
	var found []Object
	for next := metav1.Object(object); len(found) < maxSteps; {
		ref := metav1.GetControllerOfNoCopy(next)
		if ref == nil {
			break
		}
		kind, _ := ControllerKind(ref)
		if kind == nil {
			break
		}
		owner, err := lookup(kind, ref, object.GetNamespace(), g.source)
		above, ok := owner.(Object)
		if err != nil || !ok {
			break
		}
		found, next = append(found, above), owner
	}
	return found
}

func (g *gathering) addPod(pod *corev1.Pod) {
	w, err := Of(pod, g.source)
	if err != nil {
		return // Its owner is not known yet.
	}
	o := g.observed(&w)
	o.Pods = append(o.Pods, pod)
	if o.kind == nil && o.foreign == nil {
		o.followYoungest(pod)
	}
}

// addLeaving adds a pod that terminates on a node to the workload that waits for its end.
func (g *gathering) addLeaving(pod *corev1.Pod) {
	w, err := Of(pod, g.source)
	if err != nil {
		return // Its owner is not known yet.
	}
	if o := g.byID[w.ID()]; o != nil && o.kind != nil && o.kind.ordered {
		o.Leaving = append(o.Leaving, pod)
	}
}

func (g *gathering) finish() []*Observed {
	observed := slices.DeleteFunc(g.order, func(o *Observed) bool {
		return o.kind != nil && o.kind.ends && o.Replicas == 0 && len(o.Pods) == 0
	})
	for _, o := range observed {
		switch {
		case o.kind != nil && o.kind.numbered:
			o.Settled = o.Settled && o.newest == o.revision
		case o.kind == nil && o.foreign == nil && o.ReplicasKnown:
			// Nobody says how far its controller is; while it adds or replaces pods, the numbers differ.
			o.Settled = len(o.Pods) == int(o.Replicas)
		}
	}
	slices.SortFunc(observed, Compare)
	return observed
}

// describe takes up what the object of the workload says.
func (o *Observed) describe(kind *Kind, object Object) {
	f := kind.facts(object)
	o.kind, o.Generation, o.Selector, o.Settled = kind, object.GetGeneration(), kind.selector(object), f.settled
	o.claims = f.claims
	o.setTemplate(f.template)
	if kind.numbered {
		o.revision = revisionNumber(object)
	} else {
		o.Revision = kind.revisionOf(object, f.hash)
	}
}

// setTemplate takes up what the template of the pods asks for.
func (o *Observed) setTemplate(template *corev1.PodTemplateSpec) {
	if template != nil {
		o.template = template
		o.Request, o.Scheduler = requestOf(template.Annotations), template.Spec.SchedulerName
	}
}

// addRevision makes the ReplicaSet with the highest revision number the one that counts. The
// deployment controller gives the ReplicaSet of the present template a number above all others,
// also when it takes up an old one again. The number of the Deployment follows in a write of its
// own: until it does, the rollout is not settled.
func (o *Observed) addRevision(kind *Kind, object metav1.Object) {
	if revision := revisionNumber(object); o.Revision.Owner == "" || revision > o.newest {
		o.Revision, o.newest = kind.revisionOf(object, ""), revision
	}
}

// noRevision is the number of what the deployment controller has not numbered.
const noRevision = -1

func revisionNumber(object metav1.Object) int64 {
	n, err := strconv.ParseInt(object.GetAnnotations()[RevisionAnnotation], 10, 64)
	if err != nil {
		return noRevision
	}
	return n
}

// addForeignRevision takes up a ReplicaSet of an owner of a kind beyond the table: the youngest one
// that has replicas counts. With two of them in use a rollout is under way. Replicas is how many
// pods the owner wants, the ReplicaSet's own number if the owner does not say.
func (o *Observed) addForeignRevision(kind *Kind, object Object, replicas int32) {
	f := kind.facts(object)
	first, inUse, used := o.foreign == nil, f.replicas > 0, o.foreign != nil && kind.facts(o.foreign).replicas > 0
	settled := o.Settled
	if first || inUse && (!used || object.GetCreationTimestamp().After(o.foreign.GetCreationTimestamp().Time)) {
		o.foreign, o.Revision = object, kind.revisionOf(object, "")
		o.Replicas, o.Selector = replicas, kind.selector(object)
		o.setTemplate(f.template)
		settled = f.settled
	}
	o.Settled = settled && (!inUse || !used)
}

// followYoungest makes the revision of the youngest pod the one that counts. A pod without a
// controller has but itself.
func (o *Observed) followYoungest(pod *corev1.Pod) {
	if o.youngest != nil && !pod.CreationTimestamp.After(o.youngest.CreationTimestamp.Time) {
		return
	}
	var owned bool
	o.youngest = pod
	o.Revision, owned = RevisionOf(pod)
	o.Settled = !owned
	o.Request, o.Scheduler = requestOf(pod.Annotations), pod.Spec.SchedulerName
}
