// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ClusterProfile describes the place and the resources of a Cluster as its administrator registered
// them. The numbers are what was declared, not what Berth measured.
type ClusterProfile struct {
	// ipAddress is the address under which the cluster is reached, IPv4 or IPv6. It is carried only,
	// for those who read it: Berth never connects to it, and it decides nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule="self == '' || isIP(self)",message="must be an IPv4 or IPv6 address"
	IPAddress string `json:"ipAddress,omitempty"`

	// geoLocation is where the cluster stands.
	// +optional
	GeoLocation *GeoLocation `json:"geoLocation,omitempty"`

	// region is the region and availability zone of the cluster.
	// +optional
	Region *Region `json:"region,omitempty"`

	// operator is who runs the cluster.
	// +optional
	Operator *Operator `json:"operator,omitempty"`

	// flavors are the machine sizes that the cluster offers, with the number of machines of each.
	// +optional
	// +listType=map
	// +listMapKey=flavorID
	// +kubebuilder:validation:MaxItems=1000
	Flavors []Flavor `json:"flavors,omitempty"`

	// storage lists the kinds of storage that the cluster offers.
	// +optional
	// +listType=map
	// +listMapKey=typeID
	// +kubebuilder:validation:MaxItems=100
	Storage []Storage `json:"storage,omitempty"`

	// eipCapacity is the number of elastic IP addresses of the cluster.
	// +optional
	// +kubebuilder:validation:Minimum=0
	EIPCapacity int64 `json:"eipCapacity,omitempty"`

	// cpuCapacity is the number of CPU cores of the cluster.
	// +optional
	// +kubebuilder:validation:Minimum=0
	CPUCapacity int64 `json:"cpuCapacity,omitempty"`

	// memCapacity is the memory of the cluster, in GiB.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MemCapacity int64 `json:"memCapacity,omitempty"`

	// serverPrice is what a server costs here, in whatever unit all your clusters share. Lower is
	// cheaper.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ServerPrice int64 `json:"serverPrice,omitempty"`
}

// GeoLocation is a place on the map, from the smallest part to the largest. Every part is optional.
type GeoLocation struct {
	// city, for instance "Bellevue".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	City string `json:"city,omitempty"`

	// province or state, for instance "Washington".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Province string `json:"province,omitempty"`

	// area of the country, for instance "West".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Area string `json:"area,omitempty"`

	// country, for instance "US".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Country string `json:"country,omitempty"`
}

// Region is a region and availability zone in the operator's own words.
type Region struct {
	// region, for instance "us-west".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Region string `json:"region,omitempty"`

	// availabilityZone, for instance "us-west-1".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	AvailabilityZone string `json:"availabilityZone,omitempty"`
}

// Operator is who runs a cluster.
type Operator struct {
	// operator is the operator's name.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Operator string `json:"operator,omitempty"`
}

// Flavor is a machine size and the number of machines of that size.
type Flavor struct {
	// flavorID names the size, for instance "2xlarge".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	FlavorID string `json:"flavorID"`

	// totalCapacity is the number of machines of this size.
	// +kubebuilder:validation:Minimum=0
	TotalCapacity int64 `json:"totalCapacity"`
}

// Storage is a kind of storage and how much of it there is.
type Storage struct {
	// typeID names the kind, for instance "sata", "sas" or "ssd".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	TypeID string `json:"typeID"`

	// storageCapacity is the amount, in GiB.
	// +kubebuilder:validation:Minimum=0
	StorageCapacity int64 `json:"storageCapacity"`
}
