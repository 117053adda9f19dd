// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package check

// preChecks tell whether Berth could be installed.
var preChecks = []check{
	{id: "api-reachable", category: "kubernetes", description: "the API server answers", find: apiReachable, vital: true},
	{id: "kubernetes-version", category: "kubernetes", description: "this version of Kubernetes is supported", find: supportedVersion},
	{id: "pre-rights", category: "installing", description: "you may create what an installation is made of", find: rightsToInstall},
	{id: "pre-installed", category: "installing", description: "Berth is not installed yet", find: installedAlready},
	{id: "pre-default-scheduler", category: "installing", description: "another scheduler works, which places Berth's own pods", find: defaultScheduler},
	{id: "pre-injection", category: "installing", description: "schedulerName can be set by namespace", find: injectionServed},
}

// checks tell whether Berth works.
var checks = []check{
	{id: "api-reachable", category: "kubernetes", description: "the API server answers", find: apiReachable, vital: true},
	{id: "kubernetes-version", category: "kubernetes", description: "this version of Kubernetes is supported", find: kubernetesVersion},

	{id: "definitions", category: "definitions", description: "the API server serves all kinds of Berth", find: definitions},

	{id: "installed", category: "programs", description: "berth-scheduler and berth-controller-manager are installed", find: installed},
	{id: "available", category: "programs", description: "all programs have the replicas that they should have", find: available},
	{id: "versions", category: "programs", description: "all programs are of one version", find: versions},
	{id: "own-pods-placed", category: "programs", description: "there is room for Berth's own pods", find: ownPodsPlaced},
	{id: "own-pods-running", category: "programs", description: "Berth's own pods start and stay", find: ownPodsRunning},
	{id: "memory", category: "programs", description: "no program has run out of memory", find: memory},
	{id: "configuration", category: "programs", description: "the scheduler's configuration can be read", find: configuration},

	{id: "rbac", category: "permissions", description: "the programs may do what they need", find: permissions},
	{id: "rbac-bindings", category: "permissions", description: "the ServiceAccounts have their roles", find: bindings},

	{id: "leases", category: "leases", description: "the programs have their leases", find: leases},
	{id: "lease-renewed", category: "leases", description: "the leases are renewed in time", find: leasesRenewed},
	{id: "lease-holder", category: "leases", description: "the leases are held by Berth's pods", find: leaseHolders},
	{id: "lease-clock", category: "leases", description: "holders and API server agree about the time", find: leaseClocks},

	{id: "certificates", category: "certificates", description: "certificates are valid for another week", find: certificates},

	{id: "flow-schema", category: "priority and fairness", description: "leases go before other requests", find: flowSchema},

	{id: "admission-policies", category: "admission", description: "the admission policies are there", find: admissionPolicies},
	{id: "admission-bindings", category: "admission", description: "the admission policies are bound, and deny", find: admissionBindings},
	{id: "admission-types", category: "admission", description: "the admission policies fit the kinds that they look at", find: admissionTypes},

	{id: "injection", category: "injection", description: "injection is bound, if there is any", find: injectionBound},
	{id: "injection-scheduler", category: "injection", description: "injection sets a scheduler that runs", find: injectionScheduler},

	{id: "clusters-overlap", category: "objects", description: "no node is claimed by two Clusters", find: overlaps},
	{id: "clusters-empty", category: "objects", description: "Clusters have nodes", find: emptyClusters},
	{id: "objects-accepted", category: "objects", description: "policies and feed parsers are accepted", find: accepted},
	{id: "objects-conflicted", category: "objects", description: "no policies are in conflict", find: conflicted},
	{id: "resources-valid", category: "objects", description: "ClusterResources are ready", find: clusterResources},
	{id: "schedulers", category: "objects", description: "each Scheduler has a process", find: schedulerProcesses},

	{id: "pods-scheduler", category: "pods", description: "no pod waits for a scheduler that is not there", find: podsOfNoScheduler},
	{id: "pods-gang", category: "pods", description: "no pod of a gang waits for a plugin that is off", find: podsOfGangs},
}
