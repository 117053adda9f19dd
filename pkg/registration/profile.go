// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registration

// The JSON tags below are the keys of the registration API, a promise to programs. The tag alias
// names a second spelling that is read, required marks keys that a request must have.

// Document is the body of a request, and of an answer about one cluster.
type Document struct {
	// Profile is the cluster.
	Profile Profile `json:"cluster_profile" required:"true"`
}

// List is the answer to a request for all clusters.
type List struct {
	// Clusters are sorted by name. They are never nil, so that programs get an empty list.
	Clusters []Profile `json:"clusters"`

	// Continue, if not empty, asks for the rest of the list. Only lists with a limit have it.
	Continue string `json:"continue,omitempty"`

	// ResourceVersion is the version of the whole list: all clusters are as they were at that moment.
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// Profile is a registered cluster.
type Profile struct {
	// ID is the UID of the Cluster. Requests need none: it is given when the cluster is registered,
	// and never again.
	ID string `json:"cluster_id,omitempty"`

	// Name is the name of the Cluster, a DNS label.
	Name string `json:"cluster_name" required:"true"`

	// Spec describes the cluster.
	Spec Spec `json:"cluster_spec" required:"true"`
}

// Spec describes a cluster. All numbers are what the administrator declares. The fields up to
// HomeDispatcher are those of Global Resource Scheduler and are always written; the rest are
// Berth's.
type Spec struct {
	// IPAddress is where the cluster is reached, IPv4 or IPv6.
	IPAddress string `json:"ipAddress" alias:"ipAdrress"`
	// GeoLocation is where the cluster stands.
	GeoLocation GeoLocation `json:"GeoLocation"`
	// Region is the region and availability zone in the words of the operator.
	Region Region `json:"Region" required:"true"`
	// Operator is who runs the cluster.
	Operator Operator `json:"Operator"`
	// Flavors are the sizes of machines with the number of machines of each.
	Flavors []Flavor `json:"flavors"`
	// Storage are the kinds of storage with the amount of each in GiB.
	Storage []Storage `json:"storage"`
	// EIPCapacity is the number of elastic IP addresses.
	EIPCapacity int64 `json:"EipCapacity"`
	// CPUCapacity is the number of CPU cores.
	CPUCapacity int64 `json:"CPUCapacity"`
	// MemCapacity is the memory in GiB.
	MemCapacity int64 `json:"MemCapacity"`
	// ServerPrice is what a server costs, in a unit that all clusters share.
	ServerPrice int64 `json:"ServerPrice"`
	// HomeScheduler is the scheduler that the cluster is bound to. In a request it has no effect.
	HomeScheduler string `json:"HomeScheduler"`
	// HomeDispatcher is kept and given back. Berth does not use it.
	HomeDispatcher string `json:"HomeDispatcher"`

	// Nodes names nodes that belong to the cluster. A change without them, nil, leaves them as they
	// are, as it does with all that follows; an empty list removes them.
	Nodes []string `json:"nodes,omitempty"`
	// MatchLabels selects nodes that belong to the cluster.
	MatchLabels map[string]string `json:"matchLabels,omitempty" alias:"matchLables"`
	// Labels are the labels of the Cluster.
	Labels map[string]string `json:"labels,omitempty"`
	// Metrics are the metrics by which the cluster is ranked.
	Metrics []Metric `json:"metrics,omitempty"`
	// CustomResources are the custom resources that the cluster offers, as "plural.group".
	CustomResources []string `json:"customResources,omitempty"`
	// Unschedulable says that the cluster is cordoned, and Drain that it is being emptied.
	Unschedulable *bool `json:"unschedulable,omitempty"`
	Drain         *bool `json:"drain,omitempty"`
	// Provision marks a cluster that does not exist yet. Once there, it stays.
	Provision *Provision `json:"provision,omitempty"`
}

// Provision says on which clouds a cluster that does not exist yet may be made.
type Provision struct {
	// CloudNamespace is the namespace of the Clouds beside GlobalClouds.
	CloudNamespace string `json:"cloudNamespace,omitempty"`
	// CloudLabels are label constraints that a cloud must meet.
	CloudLabels []string `json:"cloudLabels,omitempty"`
	// CloudMetrics are metric constraints that a cloud must meet.
	CloudMetrics []string `json:"cloudMetrics,omitempty"`
}

// GeoLocation is a place, from the smallest part to the largest.
type GeoLocation struct {
	City     string `json:"city"`
	Province string `json:"province"`
	Area     string `json:"area"`
	Country  string `json:"country"`
}

// Region is a region and an availability zone of it.
type Region struct {
	Region           string `json:"region" required:"true"`
	AvailabilityZone string `json:"AvailabilityZone"`
}

// Operator is who runs a cluster.
type Operator struct {
	Operator string `json:"operator"`
}

// Flavor is a size of machines, and the number of machines of that size.
type Flavor struct {
	FlavorID      string `json:"FlavorID" required:"true"`
	TotalCapacity int64  `json:"TotalCapacity" required:"true"`
}

// Storage is a kind of storage, and its amount in GiB.
type Storage struct {
	TypeID          string `json:"TypeID" required:"true"`
	StorageCapacity int64  `json:"StorageCapacity" required:"true"`
}

// Metric names a metric of the cluster. An empty namespace stands for a GlobalMetric.
type Metric struct {
	Name      string  `json:"name" required:"true"`
	Namespace string  `json:"namespace,omitempty"`
	Weight    float64 `json:"weight" required:"true"`
}
