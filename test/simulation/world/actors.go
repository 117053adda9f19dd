// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	model "berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/test/simulation/apiserver"
)

// The resources that those who act in a world write.
var (
	pods        = corev1.SchemeGroupVersion.WithResource("pods")
	nodes       = corev1.SchemeGroupVersion.WithResource("nodes")
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
	replicaSets = appsv1.SchemeGroupVersion.WithResource("replicasets")
	clusters    = berthv1alpha1.SchemeGroupVersion.WithResource("clusters")
	policies    = berthv1alpha1.SchemeGroupVersion.WithResource("propagationpolicies")
	resources   = berthv1alpha1.SchemeGroupVersion.WithResource("clusterresources")
)

// namespace is where all workloads are.
const namespace = "default"

// object is the JSON of a part of an object.
type object = map[string]any

// act lets somebody who is no program of Berth write something. What is refused is of no account:
// those who act look again.
func (w *World) act(verb string, resource schema.GroupVersionResource, name, subresource string, body any) bool {
	in := namespace
	if slices.Contains([]schema.GroupVersionResource{nodes, clusters, resources, metrics, providers}, resource) {
		in = ""
	}
	answer := w.server.Serve(apiserver.NewRequest(verb, resource, in, name, subresource, body))
	if answer.Code >= http.StatusBadRequest {
		return false
	}
	w.Counts.Others++
	return true
}

// create makes an object of a type.
func (w *World) create(resource schema.GroupVersionResource, o metav1.Object) {
	if !w.act("create", resource, "", "", o) {
		w.notef("cannot create %s %s", resource.Resource, o.GetName())
	}
}

// saw keeps the mirror of pods and nodes, and lets the kubelet know. It is called after each write.
func (w *World) saw(change *apiserver.Change) {
	switch change.Resource {
	case pods.Resource:
		w.sawPod(change)
	case nodes.Resource:
		node := &corev1.Node{}
		if !change.Decode(node) {
			delete(w.nodes, change.Name)
			return
		}
		w.nodes[change.Name] = node
	case deployments.Resource:
		found := &appsv1.Deployment{}
		if change.Decode(found) {
			w.sawDeployment(found)
		}
	case leases:
		w.sawLease(change)
	default:
		w.sawOwn(change)
		if w.fleet != nil {
			w.fleet.saw(change)
		}
	}
}

func (w *World) sawPod(change *apiserver.Change) {
	before, after := w.pods[change.Name], &corev1.Pod{}
	if !change.Decode(after) {
		after = nil
		delete(w.pods, change.Name)
	} else {
		w.pods[change.Name] = after
	}
	if stays(before) && !stays(after) {
		w.noteSurplus() // it may have been one too many for long
	}
	w.sort(before, after)
	w.judge(before, after)
	if after == nil || after.Spec.NodeName == "" {
		return
	}
	switch {
	case after.DeletionTimestamp != nil && (before == nil || before.DeletionTimestamp == nil):
		w.after(w.pause("end of "+after.Name, 2*time.Second), func() { w.endPod(after) })
	case before == nil || before.Spec.NodeName == "":
		w.bound[after.UID] = time.Now()
		w.after(w.startsIn(after), func() { w.startPod(after.Name) })
	}
}

// sort keeps the pods of each owner that are not being deleted.
func (w *World) sort(before, after *corev1.Pod) {
	for _, pod := range []*corev1.Pod{before, after} {
		owner := ownerOf(pod)
		if owner == "" {
			continue
		}
		if w.staying[owner] == nil {
			w.staying[owner] = map[string]*corev1.Pod{}
		}
		if pod == after && stays(pod) {
			w.staying[owner][pod.Name] = pod
		} else {
			delete(w.staying[owner], pod.Name)
		}
		for _, l := range w.workloads {
			l.changed = l.changed || l.uid.UID == owner
		}
		if w.fleet != nil {
			w.fleet.look()
		}
	}
}

// ownerOf returns the UID of the controller of a pod, empty for none.
func ownerOf(pod *corev1.Pod) types.UID {
	if pod == nil {
		return ""
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return owner.UID
	}
	return ""
}

// pause is how long something takes, up to a time, as the seed wants it.
func (w *World) pause(name string, most time.Duration) time.Duration {
	return most/10 + time.Duration(w.hash(name)%uint64(most))
}

// workload is a Deployment with one ReplicaSet.
type workload struct {
	name     string
	replicas int32
	licences int
	policy   bool
	// fed is the Subscription that lists it, nil for none.
	fed *subscription
	// template is what its pods are made of if an Application has made it, nil otherwise.
	template *corev1.PodTemplateSpec
	// uid is that of the ReplicaSet, serial the number of the next pod.
	uid    metav1.OwnerReference
	serial int
	status string
	// changed is true if its controllers have something to look at.
	changed bool
}

// control is what the controllers of workloads do, again and again.
func (w *World) control() {
	w.after(controlPause, w.control)
	w.controlChanged()
	for _, name := range w.neglected() {
		pod := w.pods[name]
		switch {
		case pod == nil:
		case w.nodes[pod.Spec.NodeName] == nil:
			w.act("delete", pods, pod.Name, "", metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))})
		default:
			w.startPod(pod.Name)
		}
	}
}

// controlChanged is what they do about workloads: what they have seen once is the same until
// something of it changes.
func (w *World) controlChanged() {
	for _, l := range w.workloads {
		if l.changed {
			l.changed = false
			w.controlPods(l)
		}
	}
}

// neglected returns the pods, in the order of their names, whose node is gone, or whose kubelet has
// not started them in time.
func (w *World) neglected() (names []string) {
	for name, pod := range w.pods {
		if pod.Spec.NodeName != "" && (w.nodes[pod.Spec.NodeName] == nil ||
			pod.Status.Phase == corev1.PodPending && time.Since(w.bound[pod.UID]) > lookAgain) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// controlPause is how often the controllers of workloads look, lookAgain how long a kubelet may
// take to start a pod before it is looked whether its node failed meanwhile.
const (
	controlPause = 150 * time.Millisecond
	lookAgain    = 3 * time.Second
)

// of returns the pods of a workload that are not being deleted, those that go first at the front.
func (w *World) of(l *workload) []*corev1.Pod {
	list := slices.AppendSeq(make([]*corev1.Pod, 0, len(w.staying[l.uid.UID])), maps.Values(w.staying[l.uid.UID]))
	cost := func(pod *corev1.Pod) int {
		n, _ := strconv.Atoi(pod.Annotations[corev1.PodDeletionCost])
		return n
	}
	assigned := func(pod *corev1.Pod) int { return min(1, len(pod.Spec.NodeName)) }
	ready := func(pod *corev1.Pod) int {
		if model.Ready(pod) {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(assigned(a), assigned(b)), cmp.Compare(ready(a), ready(b)), cmp.Compare(cost(a), cost(b)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func (w *World) controlPods(l *workload) {
	own := w.of(l)
	for range int(l.replicas) - len(own) {
		if w.fleet != nil && w.fleet.refuses(l) {
			break
		}
		l.serial++
		w.create(pods, l.pod())
	}
	w.shrinking = true
	for i := range len(own) - int(l.replicas) {
		w.act("delete", pods, own[i].Name, "", metav1.DeleteOptions{})
	}
	w.shrinking = false
	ready := int32(0)
	for _, pod := range own {
		if model.Ready(pod) {
			ready++
		}
	}
	status := object{"replicas": l.replicas, "readyReplicas": ready, "availableReplicas": ready, "updatedReplicas": l.replicas}
	text := fmt.Sprint(status)
	if text == l.status {
		return
	}
	l.status = text
	w.observe(deployments, l.name, status)
	delete(status, "updatedReplicas")
	w.observe(replicaSets, l.name+"-1", status)
}

// observe writes the status of a workload's object as its controller does.
func (w *World) observe(resource schema.GroupVersionResource, name string, status object) {
	status["observedGeneration"] = w.generations[name]
	w.act("patch", resource, name, "status", object{"status": status})
}

// scale changes how many replicas a workload wants.
func (w *World) scale(l *workload, replicas int32) {
	l.replicas, l.status, l.changed = replicas, "", true
	w.generations[l.name]++
	w.generations[l.name+"-1"]++
	w.act("patch", deployments, l.name, "", object{"spec": object{"replicas": replicas}})
	w.act("patch", replicaSets, l.name+"-1", "", object{"spec": object{"replicas": replicas}})
}

func (l *workload) labels() map[string]string {
	return map[string]string{"app": l.name, appsv1.DefaultDeploymentUniqueLabelKey: "1"}
}

func (l *workload) pod() *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-1-%d", l.name, l.serial), Labels: l.labels(), OwnerReferences: []metav1.OwnerReference{l.uid},
		},
		Spec: l.podSpec(),
	}
	switch {
	case l.template != nil:
		pod.Annotations = maps.Clone(l.template.Annotations)
	case l.licences > 0:
		pod.Annotations = map[string]string{berthv1alpha1.ClusterResourceAnnotationPrefix + licence: strconv.Itoa(l.licences)}
	}
	return pod
}
