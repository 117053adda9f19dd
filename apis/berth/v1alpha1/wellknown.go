// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

const (
	// PolicyAnnotation on a pod names the PropagationPolicy of the pod's namespace that must place it,
	// or holds PolicyNone. It is a request: users may write it. Once Berth has bound a pod it also
	// holds the name of the policy that placed the pod.
	PolicyAnnotation = "groupingpolicy.kubeedge.io"

	// PolicyNone as the value of PolicyAnnotation keeps every policy away from the pod.
	PolicyNone = "none"

	// PlacedByAnnotation is Berth's mark on every pod that it bound, or that a policy has taken over:
	// "UID/NODE", the UID of the pod and the node it was bound to. Only if it fits its own pod, which
	// also has PlacedPolicyAnnotation, may the policy controller evict the pod, so a stamp copied into
	// a pod template or onto another pod gives no right.
	PlacedByAnnotation = "berth.dev/placed-by"

	// PlacedPolicyAnnotation names the PropagationPolicy that placed the pod.
	PlacedPolicyAnnotation = "berth.dev/policy"

	// PlacedClusterAnnotation names the Cluster in which the pod was placed.
	PlacedClusterAnnotation = "berth.dev/cluster"

	// ClusterLabel holds the same as PlacedClusterAnnotation, so that selectors find the pods of a
	// Cluster. Pods of a Cluster whose name is no value of a label, for it has more than 63
	// characters, do not have it.
	ClusterLabel = "berth.dev/cluster"

	// SeatAnnotation holds the seat of the pod: its place, counted from 0, in the seat order of its
	// workload. It is absent from pods that were placed beyond the share of their cluster.
	SeatAnnotation = "berth.dev/seat"

	// ChargedAnnotation holds what Berth charged the pod of ClusterResources when it bound it, as
	// "RESOURCE/POOL=QUANTITY" with commas between several. It counts from then on, whatever becomes
	// of the labels of the node or of the pools.
	ChargedAnnotation = "berth.dev/charged"

	// GranteeAnnotation names the Scheduler out of whose grant a pod with ChargedAnnotation was
	// charged. Pods that a scheduler without a name placed have none.
	GranteeAnnotation = "berth.dev/grantee"

	// SettledAnnotation is written on a pod by the scheduler that could not tell whether its Binding
	// was carried out. Its value is used once: the write moves the version of the pod, so that the
	// Binding, which carries the version before, can no longer land.
	SettledAnnotation = "berth.dev/settled"

	// ComponentLabel says to which part of the object that controls it a pod belongs, see
	// ComponentRule. Users write it into pod templates where the operator has no label for that.
	ComponentLabel = "berth.dev/component"
)

const (
	// ClusterResourceDomain is the domain of the extended resources by which a container asks for
	// ClusterResources: "cluster-resource.berth.dev/NAME".
	ClusterResourceDomain = "cluster-resource.berth.dev"

	// ClusterResourceAnnotationPrefix begins the annotations by which a whole pod asks for
	// ClusterResources: "pod.alpha.kubernetes.io/cluster-resource-NAME", with a quantity as value.
	ClusterResourceAnnotationPrefix = "pod.alpha.kubernetes.io/cluster-resource-"

	// ClusterResourceFinalizer keeps a ClusterResource until no pod holds any of it.
	ClusterResourceFinalizer = "berth.dev/cluster-resource-in-use"
)

const (
	// ClusterResourceReady is true if the pools can be used as they are declared or reported.
	ClusterResourceReady = "Ready"

	// ClusterResourceOvercommitted is true while pods hold more of a pool than is allocatable.
	ClusterResourceOvercommitted = "Overcommitted"

	// ClusterResourceInUse is true while a ClusterResource that is being deleted is kept for the pods
	// that hold some of it.
	ClusterResourceInUse = "InUse"
)

const (
	// ReasonPublished says that the pools of spec.capacity are allocatable.
	ReasonPublished = "Published"

	// ReasonReported says that another program reported the pools.
	ReasonReported = "Reported"

	// ReasonNothingReported says that spec.capacity is empty and nobody has reported anything yet.
	ReasonNothingReported = "NothingReported"

	// ReasonInvalidPools says that the pools cannot be used, for instance because two have the same
	// name or an amount is no multiple of the unit. Pods that ask for the resource wait.
	ReasonInvalidPools = "InvalidPools"

	// ReasonWithinAllocatable says that pods hold no more than is allocatable.
	ReasonWithinAllocatable = "WithinAllocatable"

	// ReasonAboveAllocatable says that pods hold more of some pool than is allocatable.
	ReasonAboveAllocatable = "AboveAllocatable"

	// ReasonHeldByPods says that pods hold some of a ClusterResource that is being deleted; the
	// message tells which.
	ReasonHeldByPods = "HeldByPods"
)

const (
	// ClusterReady is true while at least one node of the Cluster is ready and schedulable.
	ClusterReady = "Ready"

	// ClusterConflicted is true while some node is claimed by this Cluster and held by another one.
	ClusterConflicted = "Conflicted"
)

const (
	// ReasonNodesReady says that at least one node of the Cluster is ready.
	ReasonNodesReady = "NodesReady"

	// ReasonNoNodes says that no existing node belongs to the Cluster.
	ReasonNoNodes = "NoNodes"

	// ReasonNoReadyNodes says that none of the nodes of the Cluster is ready and schedulable.
	ReasonNoReadyNodes = "NoReadyNodes"

	// ReasonNodesHeldByOthers says that nodes this Cluster claims belong to other Clusters.
	ReasonNodesHeldByOthers = "NodesHeldByOthers"

	// ReasonNoConflict says that no other Cluster holds a node that this one claims.
	ReasonNoConflict = "NoConflict"
)

const (
	// PolicyAccepted is true if everything in the spec of the policy can be carried out as written.
	PolicyAccepted = "Accepted"

	// PolicyClustersResolved is true if every cluster that the policy names exists and has nodes.
	PolicyClustersResolved = "ClustersResolved"

	// PolicyPlaced is true while every selected workload runs in the shares that the policy wants.
	PolicyPlaced = "Placed"

	// PolicyConflicted is true while a workload that the policy selects is placed by another policy.
	PolicyConflicted = "Conflicted"

	// PolicyScaled is true while the workloads of a policy have as many replicas as its clusters want.
	// Only policies with the scaling mode FollowClusters have it.
	PolicyScaled = "Scaled"
)

const (
	// ReasonAccepted says that the spec of the policy is valid.
	ReasonAccepted = "Accepted"

	// ReasonForeignNamespace says that a selector names a namespace other than the policy's own; it
	// selects nothing.
	ReasonForeignNamespace = "ForeignNamespace"

	// ReasonInvalidSelector says that a label selector of the policy cannot be understood; it selects
	// nothing.
	ReasonInvalidSelector = "InvalidSelector"

	// ReasonInvalidWeights says that the weights cannot be used, for instance because a cluster is
	// listed twice. Pods of the policy wait.
	ReasonInvalidWeights = "InvalidWeights"

	// ReasonClustersFound says that all named clusters exist and have nodes.
	ReasonClustersFound = "ClustersFound"

	// ReasonUnknownCluster says that a named cluster does not exist. The other clusters are served;
	// the share of the missing one waits.
	ReasonUnknownCluster = "UnknownCluster"

	// ReasonEmptyCluster says that a named cluster has no nodes.
	ReasonEmptyCluster = "EmptyCluster"

	// ReasonEmptyGroup says that no Cluster is in a group of the policy at present. The other groups
	// are served; one that comes into it gets its part.
	ReasonEmptyGroup = "EmptyGroup"

	// ReasonClusterInTwoGroups says that a Cluster is in several groups of the policy; it belongs to
	// the first of them.
	ReasonClusterInTwoGroups = "ClusterInTwoGroups"

	// ReasonClustersWithoutWeight says that Clusters in a group of the policy have no weight, because
	// a label is missing or no number, or nothing is known of the resource. They get nothing.
	ReasonClustersWithoutWeight = "ClustersWithoutWeight"

	// ReasonClustersExcluded says that no cluster of the policy meets its constraints.
	ReasonClustersExcluded = "ClustersExcluded"
	// ReasonSpreadRelaxed says that the Clusters of a group lie in fewer places than a spread
	// constraint asks for.
	ReasonSpreadRelaxed = "SpreadRelaxed"

	// ReasonNoWorkloads says that the policy selects no workload at present.
	ReasonNoWorkloads = "NoWorkloads"

	// ReasonAsDesired says that all replicas run where the policy wants them.
	ReasonAsDesired = "AsDesired"

	// ReasonPodsPending says that replicas still wait to be scheduled.
	ReasonPodsPending = "PodsPending"

	// ReasonMisplaced says that replicas run outside their share and nothing moves them, because the
	// policy forbids it or a guard holds the evictions back; the message tells which.
	ReasonMisplaced = "Misplaced"

	// ReasonRebalancing says that misplaced replicas are being evicted.
	ReasonRebalancing = "Rebalancing"

	// ReasonOtherPolicyWins says that another policy places a workload that this one selects too.
	ReasonOtherPolicyWins = "OtherPolicyWins"

	// ReasonFollowsClusters says that workloads have as many replicas as the clusters of their policy
	// want.
	ReasonFollowsClusters = "FollowsClusters"

	// ReasonAutoscaled says that a HorizontalPodAutoscaler targets a workload, so that its policy does
	// not scale it.
	ReasonAutoscaled = "Autoscaled"

	// ReasonNotScalable says that the number of replicas of a workload cannot be set, because its kind
	// has none or the API server refuses it.
	ReasonNotScalable = "NotScalable"

	// ReasonNamespacesNotAccepted says that a ClusterPropagationPolicy cannot be carried out in some
	// of its namespaces.
	ReasonNamespacesNotAccepted = "NamespacesNotAccepted"

	// ReasonNoNamespaces says that a ClusterPropagationPolicy selects no namespace at present.
	ReasonNoNamespaces = "NoNamespaces"
)

const (
	// ClusterOnline is true while a large enough share of the nodes of the Cluster is ready for
	// applications to be sent there.
	ClusterOnline = "Online"

	// MetricsAvailable is true while all metrics of a Cluster, cloud or project can be read.
	MetricsAvailable = "MetricsAvailable"

	// MetricAvailable is true if the last attempt to read a metric succeeded.
	MetricAvailable = "Available"

	// ClusterCloudBound is true when a cloud is chosen for a Cluster that is to be made, as long as
	// that cloud exists.
	ClusterCloudBound = "CloudBound"

	// MagnumClusterBound is true when a project is chosen for a MagnumCluster, as long as that project
	// exists.
	MagnumClusterBound = "Bound"

	// ProviderReachable is true if a provider of metrics answered the last time it was asked.
	ProviderReachable = "Reachable"
)

const (
	// ReasonEnoughNodesReady says that enough nodes of the Cluster are ready.
	ReasonEnoughNodesReady = "EnoughNodesReady"

	// ReasonTooFewNodesReady says that too few nodes of the Cluster are ready.
	ReasonTooFewNodesReady = "TooFewNodesReady"
)

const (
	// ReasonMetricsRead says that the value of a metric, or of all metrics of a place, was read.
	ReasonMetricsRead = "MetricsRead"

	// ReasonProviderAnswers says that a provider of metrics answers.
	ReasonProviderAnswers = "ProviderAnswers"

	// ReasonUnknownMetric says that there is no metric of the name that a reference has.
	ReasonUnknownMetric = "UnknownMetric"

	// ReasonInvalidMetric says that the spec of a metric cannot be used.
	ReasonInvalidMetric = "InvalidMetric"

	// ReasonMissingLabel says that a metric is read for each cluster by a label, and the cluster lacks
	// it.
	ReasonMissingLabel = "MissingLabel"

	// ReasonUnknownProvider says that a metric names a provider that does not exist.
	ReasonUnknownProvider = "UnknownProvider"

	// ReasonInvalidProvider says that the spec of a provider cannot be used.
	ReasonInvalidProvider = "InvalidProvider"

	// ReasonMissingCredentials says that the Secret of a provider does not exist or has not the right
	// keys.
	ReasonMissingCredentials = "MissingCredentials"

	// ReasonAddressNotAllowed says that Berth must not connect to the address of a provider.
	ReasonAddressNotAllowed = "AddressNotAllowed"

	// ReasonTLSRequired says that a provider is reached over plain HTTP, and that it or the operator
	// does not permit that.
	ReasonTLSRequired = "TLSRequired"

	// ReasonUnreachable says that no connection to a provider could be made.
	ReasonUnreachable = "Unreachable"

	// ReasonTimeout says that a provider did not answer in time.
	ReasonTimeout = "Timeout"

	// ReasonBadAnswer says that a provider answered with an error, or with something that is no
	// answer.
	ReasonBadAnswer = "BadAnswer"

	// ReasonNoValue says that a provider has no value for a metric.
	ReasonNoValue = "NoValue"

	// ReasonSeveralValues says that a provider has more than one value for a metric.
	ReasonSeveralValues = "SeveralValues"

	// ReasonNotANumber says that the value of a metric is not a finite number.
	ReasonNotANumber = "NotANumber"

	// ReasonOutOfRange says that the value of a metric is not between its min and max, or none of its
	// allowed values.
	ReasonOutOfRange = "OutOfRange"
)

const (
	// ReasonWaitingForMetrics says that the choice waits until the metrics of the clouds or projects
	// have been read once.
	ReasonWaitingForMetrics = "WaitingForMetrics"
)
