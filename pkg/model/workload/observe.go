// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Objects are the objects of one namespace. They are only read.
type Objects struct {
	Deployments            []appsv1.Deployment
	ReplicaSets            []appsv1.ReplicaSet
	StatefulSets           []appsv1.StatefulSet
	Jobs                   []batchv1.Job
	ReplicationControllers []corev1.ReplicationController
	Pods                   []corev1.Pod
}

// Observe returns the workloads that the objects make up, in the order of Compare. Each pod is looked at once, however
// many workloads there are. Pods whose owner is of a kind that is read, but is not among the objects, belong to nothing
// yet. Finished Jobs and workloads of kinds that are not read are there only while they have pods.
func Observe(objects *Objects) []*Observed {
	g := &gathering{byUID: map[types.UID]*Observed{}, byOwner: map[types.UID]*Observed{}}
	for i := range objects.Deployments {
		g.add(ofDeployment(&objects.Deployments[i]))
	}
	for i := range objects.ReplicaSets {
		g.addReplicaSet(&objects.ReplicaSets[i])
	}
	for i := range objects.StatefulSets {
		g.add(ofStatefulSet(&objects.StatefulSets[i]))
	}
	for i := range objects.Jobs {
		g.add(ofJob(&objects.Jobs[i]))
	}
	for i := range objects.ReplicationControllers {
		g.add(ofReplicationController(&objects.ReplicationControllers[i]))
	}
	for i := range objects.Pods {
		if pod := &objects.Pods[i]; Lives(pod) {
			g.addPod(pod)
		}
	}
	return g.finish()
}

// gathering collects workloads and hands each pod to its own.
type gathering struct {
	// byUID are the workloads, byOwner the same by the UID of the direct owner of their pods.
	byUID, byOwner map[types.UID]*Observed
	order          []*Observed
}

func (g *gathering) add(o *Observed) {
	g.byUID[o.UID], g.byOwner[o.UID] = o, o
	g.order = append(g.order, o)
}

// addReplicaSet adds a ReplicaSet to the Deployment that owns it, or as a workload, or, if a controller of another kind
// owns it, as a revision of that.
func (g *gathering) addReplicaSet(rs *appsv1.ReplicaSet) {
	parent := metav1.GetControllerOfNoCopy(rs)
	switch {
	case parent == nil:
		g.add(ofReplicaSet(rs))
	case isDeployment(parent):
		if o := g.byUID[parent.UID]; o != nil {
			g.byOwner[rs.UID] = o
			addRevision(o, rs)
		}
	default:
		o := g.byUID[parent.UID]
		if o == nil {
			o = ofForeignOwner(parent, rs)
			g.byUID[parent.UID] = o
			g.order = append(g.order, o)
		} else {
			addForeignRevision(o, rs)
		}
		g.byOwner[rs.UID] = o
	}
}

func (g *gathering) addPod(pod *corev1.Pod) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		g.add(ofBarePod(pod))
		return
	}
	o := g.byOwner[ref.UID]
	if o == nil {
		if isRead(ref) {
			return
		}
		o = ofUnreadOwner(ref, pod)
		g.add(o)
	}
	o.Pods = append(o.Pods, pod)
	if !o.ReplicasKnown {
		lookAtPod(o, pod)
	}
}

func (g *gathering) finish() []*Observed {
	observed := slices.DeleteFunc(g.order, func(o *Observed) bool {
		gone := o.Kind == KindJob && o.ReplicasKnown && o.Replicas == 0
		return gone && len(o.Pods) == 0
	})
	for _, o := range observed {
		if o.Kind == kindDeployment && o.ReplicasKnown {
			o.Settled = o.Settled && o.newest == o.revision
		}
	}
	slices.SortFunc(observed, Compare)
	return observed
}

// lookAtPod makes the revision of the youngest pod the one that counts.
func lookAtPod(o *Observed, pod *corev1.Pod) {
	if o.youngest != nil && !pod.CreationTimestamp.After(o.youngest.CreationTimestamp.Time) {
		return
	}
	o.youngest = pod
	o.Revision, _ = RevisionOf(pod)
	o.Request, o.Scheduler = requestOf(pod.Annotations), pod.Spec.SchedulerName
}
