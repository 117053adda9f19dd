// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package history remembers for a while what a process has decided: which pods it placed where,
// which it could not place and why, and whom it preempted for whom. It is kept in memory alone and
// ends with the process.
package history

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Decision is what was decided. The values are a promise to programs. Beside those that are listed
// here there are the reasons of conditions of Berth's objects, and of choices for Applications.
type Decision string

const (
	// Placed says that a pod was bound to a node.
	Placed Decision = "Placed"
	// Unschedulable says that a scheduling attempt found no node for a pod.
	Unschedulable Decision = "Unschedulable"
	// Failed says that a scheduling attempt ended with an error.
	Failed Decision = "Failed"
	// Preempted says that a pod was deleted so that one of higher priority can run.
	Preempted Decision = "Preempted"
	// Evicted says that a pod was evicted so that its replacement runs elsewhere.
	Evicted Decision = "Evicted"
	// EvictionRefused says that a pod was to be evicted, and the API server did not let it go.
	EvictionRefused Decision = "EvictionRefused"
	// Adopted says that a running pod was given a place by a policy that did not place it.
	Adopted Decision = "Adopted"
	// Dispatched says which of several Schedulers is to place a pod.
	Dispatched Decision = "Dispatched"
	// SharesChanged says that clusters are to have another number of replicas of a workload.
	SharesChanged Decision = "SharesChanged"
	// LimitsChanged says that clusters get no more replicas of a workload than they have room for,
	// or do again.
	LimitsChanged Decision = "LimitsChanged"
	// FailedOver says which clusters are left because they are offline.
	FailedOver Decision = "FailedOver"
	// HomeChanged says that another Scheduler places pods in a cluster.
	HomeChanged Decision = "HomeChanged"
	// CapacityChanged says that pools of a ClusterResource have another size.
	CapacityChanged Decision = "CapacityChanged"
	// GrantsChanged says that Schedulers may give out another amount of a ClusterResource.
	GrantsChanged Decision = "GrantsChanged"
	// UsedUp says that nothing is left in a pool of a ClusterResource.
	UsedUp Decision = "UsedUp"
	// Free says that something is left again in a pool that was used up.
	Free Decision = "Free"
)

// Object names what an entry is about, or who asked for it.
type Object struct {
	// Group is the API group, empty for the core group.
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	// Namespace is empty for objects without one.
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid,omitempty"`
}

// Pod names a pod.
func Pod(pod *corev1.Pod) Object {
	return Object{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// Named returns what names an object, given its apiVersion.
func Named(apiVersion, kind, namespace, name string, uid types.UID) *Object {
	group := schema.FromAPIVersionAndKind(apiVersion, kind).Group
	return &Object{Group: group, Kind: kind, Namespace: namespace, Name: name, UID: uid}
}

// Is reports whether both name the same object, whatever its UID.
func (o Object) Is(other Object) bool {
	return o.Kind == other.Kind && o.Namespace == other.Namespace && o.Name == other.Name && o.Group == other.Group
}

// Entry is one decision. The names of its fields are a promise to programs.
type Entry struct {
	// Time is when it was decided first, Last when it was decided again with the same result, and
	// Times how often in all.
	Time  time.Time `json:"time"`
	Last  time.Time `json:"last"`
	Times int       `json:"times"`
	// About is the object that was decided on, Workload what it belongs to, nil if to nothing that
	// is known.
	About    Object  `json:"about"`
	Workload *Object `json:"workload,omitempty"`
	// Decision is what was decided.
	Decision Decision `json:"decision"`
	// Message says in words why, or with which figures.
	Message string `json:"message,omitempty"`
	// Place is where a pod was bound, or may go; nil if nowhere.
	Place *Place `json:"place,omitempty"`
	// Key stands for Message and Reasons where these take long to work out, else it is empty. Entries
	// about one object with one decision and one key count as the same, with what the first one says.
	Key string `json:"-"`
	// Reasons are why an attempt found no node: the first one of those that are counted here.
	Reasons *Reasons `json:"reasons,omitempty"`
	// For is who asked for it: the pod that needs the room of one that was preempted, or what moves
	// a pod that was evicted. Of an object that the caller may not get it is the kind alone.
	For *Object `json:"for,omitempty"`
}

// Place is where a pod was bound.
type Place struct {
	Node string `json:"node"`
	// Cluster is where the node belongs, empty if to none.
	Cluster string `json:"cluster,omitempty"`
	// Policy placed the pod, empty if none is in force.
	Policy string `json:"policy,omitempty"`
	// Seat is absent from pods without a policy and from those beyond the share of their cluster.
	Seat *int32 `json:"seat,omitempty"`
	// Charges are what the pod holds of ClusterResources.
	Charges []Charge `json:"charges,omitempty"`
}

// Charge is so much of a pool that a pod holds.
type Charge struct {
	Resource string `json:"resource"`
	Pool     string `json:"pool"`
	Quantity string `json:"quantity"`
}

// Reasons are why an attempt found no node, by cluster.
type Reasons struct {
	// Clusters are at most MaxClusters, those with the most nodes first.
	Clusters []ClusterReasons `json:"clusters,omitempty"`
	// Others are the reasons of the nodes of all further clusters together, and OtherClusters is
	// the number of these.
	Others        []Reason `json:"others,omitempty"`
	OtherClusters int      `json:"otherClusters,omitempty"`
	// Untried says what kept all nodes that are not counted from being looked at, if anything did.
	Untried string `json:"untried,omitempty"`
}

// ClusterReasons are what the nodes of one cluster say.
type ClusterReasons struct {
	// Cluster is empty for nodes in no cluster.
	Cluster string   `json:"cluster"`
	Reasons []Reason `json:"reasons"`
}

// Reason is what so many nodes say, or the cluster as a whole if their number is 0.
type Reason struct {
	Text  string `json:"text"`
	Nodes int    `json:"nodes"`
}

const (
	// MaxClusters is the number of clusters of which reasons are remembered one by one.
	MaxClusters = 50
	// maxReasons bounds the reasons of one cluster, and maxReason a reason in bytes.
	maxReasons, maxReason = 8, 256
	// maxMessage bounds the message of an entry in bytes.
	maxMessage = 1024
	// maxCharges bounds the charges of an entry.
	maxCharges = 20
)
