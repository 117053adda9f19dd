// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// HomeSchedulerLabel on a pod names the Scheduler that places the pod while there are several.
	// Berth writes it.
	HomeSchedulerLabel = "berth.dev/home-scheduler"

	// SettledByLabel on the Lease of berth-scheduler says that the holder has made certain what the
	// holders before have sent. It names the holder and the change of holders.
	SettledByLabel = "berth.dev/settled-by"

	// OpenForLabel on the Lease of berth-scheduler says for how many seconds after a renewal the
	// holder may bind pods at most. It names the holder and the change of holders, too.
	OpenForLabel = "berth.dev/open-for"

	// SchedulerLabel on a pod that runs a managed Scheduler names that Scheduler. Berth writes it.
	SchedulerLabel = "berth.dev/scheduler"

	// GeoLocationAnnotation on a pod says where it would like to run while there are several
	// Schedulers, as "country=US,city=Bellevue" with the keys of geoLocation. It is a wish: the pod
	// runs elsewhere if nobody meets it.
	GeoLocationAnnotation = "berth.dev/geo-location"

	// SchedulerFinalizer keeps a Scheduler until it has given up its clusters and its waiting pods
	// have another home.
	SchedulerFinalizer = "berth.dev/drain-scheduler"

	// ClusterFinalizer keeps a Cluster until its home scheduler places nothing on it any more.
	ClusterFinalizer = "berth.dev/leave-home-scheduler"

	// CommonsName stands in Drained for what belongs to no cluster. It cannot be the name of a
	// Cluster.
	CommonsName = "*"

	// SystemNamespace is the namespace of Berth's programs, their ServiceAccounts and their leases.
	SystemNamespace = "berth-system"

	// DefaultLeaseNamespace is the namespace of the Lease of a Scheduler that names none. It holds
	// nothing else, so that who may renew these Leases may renew no other.
	DefaultLeaseNamespace = "berth-schedulers"

	// DefaultLeasePrefix followed by the name of the Scheduler is the name of such a Lease.
	DefaultLeasePrefix = "berth-scheduler-"
)

const (
	// ClusterBound is true while a Cluster is bound to a Scheduler that can place pods.
	ClusterBound = "Bound"

	// SchedulerReady is true while a process holds the Lease of the Scheduler.
	SchedulerReady = "Ready"
)

const (
	// ReasonNoScheduler says that no Scheduler is registered, so that a berth-scheduler without a name
	// takes all clusters.
	ReasonNoScheduler = "NoScheduler"

	// ReasonNoReadyScheduler says that Schedulers are registered and none of them is ready.
	ReasonNoReadyScheduler = "NoReadyScheduler"

	// ReasonSchedulerNotSharing says that a Scheduler that runs has not confirmed yet that it leaves
	// clusters alone which are bound to nobody.
	ReasonSchedulerNotSharing = "SchedulerNotSharing"

	// ReasonBound says that the cluster is bound to the scheduler to which it belongs.
	ReasonBound = "Bound"

	// ReasonMoving says that the scheduler of the cluster is asked to give it up.
	ReasonMoving = "Moving"

	// ReasonPinnedElsewhere says that spec.homeScheduler names a Scheduler that is not ready, so that
	// another one has the cluster.
	ReasonPinnedElsewhere = "PinnedSchedulerNotReady"

	// ReasonLeaseHeld says that a process holds the Lease and renews it.
	ReasonLeaseHeld = "LeaseHeld"

	// ReasonLeaseHeldByStranger says that the Lease is held by something else than a process of a
	// scheduler.
	ReasonLeaseHeldByStranger = "LeaseHeldByStranger"
	// ReasonNoLease says that no process has held the Lease yet.
	ReasonNoLease = "NoLease"

	// ReasonLeaseExpired says that nobody has renewed the Lease for longer than its duration.
	ReasonLeaseExpired = "LeaseExpired"

	// ReasonNoTemplate says that a managed Scheduler cannot be started because there is no Deployment
	// to copy.
	ReasonNoTemplate = "NoTemplate"

	// ReasonStandsBack is the event that a berth-scheduler without a name places no pods because there
	// is a Scheduler.
	ReasonStandsBack = "StandsBack"

	// ReasonTakesOver is the event that the last Scheduler has gone, so that a berth-scheduler without
	// a name places all pods.
	ReasonTakesOver = "TakesOver"
)
