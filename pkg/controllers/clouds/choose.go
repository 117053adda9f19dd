// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clouds binds what is to be made to the place where it is best made: Clusters with a
// section provision to a GlobalCloud, or a Cloud of the namespace they name, MagnumClusters to an
// OpenStackProject of their own. It owns the conditions CloudBound and Bound there, and
// status.scheduledTo. A choice is final, and it is told when what was chosen has gone. Having none
// is not: every change of a place asks again.
package clouds

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/rank"
)

const (
	// metricsPatience is how long a choice waits for metrics that were not read yet.
	metricsPatience = time.Minute
	// metricsPoll is how often it looks again.
	metricsPoll = 2 * time.Second
)

// place is a Cloud, GlobalCloud or OpenStackProject.
type place struct {
	berthv1alpha1.CloudReference
	candidate rank.Candidate
	// template is that of a project.
	template string
	// read is false while a metric was not tried to be read yet.
	read bool
}

func newPlace(
	kind string, meta *metav1.ObjectMeta, references []berthv1alpha1.MetricReference, samples []berthv1alpha1.MetricSample,
) place {
	p := place{
		CloudReference: berthv1alpha1.CloudReference{Kind: kind, Namespace: meta.Namespace, Name: meta.Name},
		read:           len(samples) >= len(references),
	}
	p.candidate = rank.CloudCandidate(nameOf(kind, meta.Namespace, meta.Name), meta, references, samples)
	return p
}

// choice is what came of a request.
type choice struct {
	chosen    *place
	ranking   []berthv1alpha1.RankedPlace
	condition metav1.Condition
	// again is when to look again, 0 for when something changes.
	again time.Duration
}

// choose ranks places. For what was made less than metricsPatience ago it waits for metrics.
func choose(uid types.UID, age time.Duration, constraints rank.Constraints, invalid error, places []place) choice {
	result := choice{condition: metav1.Condition{Status: metav1.ConditionFalse}}
	if invalid != nil {
		result.condition.Reason, result.condition.Message = berthv1alpha1.ReasonInvalidConstraints, invalid.Error()
		return result
	}
	candidates := make([]rank.Candidate, 0, len(places))
	byName := make(map[string]*place, len(places))
	for i := range places {
		if !places[i].read && age < metricsPatience {
			result.condition.Reason = berthv1alpha1.ReasonWaitingForMetrics
			result.condition.Message = "the metrics of some places have not been read yet"
			result.again = metricsPoll
			return result
		}
		candidates = append(candidates, places[i].candidate)
		byName[places[i].candidate.Name] = &places[i]
	}
	results := rank.Rank(&rank.Query{UID: string(uid), Constraints: constraints}, candidates)
	result.ranking = rank.Shown(results)
	if len(results) == 0 || !results[0].Eligible {
		result.condition.Reason = berthv1alpha1.ReasonNoCloudMatches
		result.condition.Message = "there is none to choose from"
		if len(results) > 0 {
			result.condition.Message = rank.Summarize(results)
		}
		return result
	}
	result.chosen = byName[results[0].Name]
	result.condition.Status, result.condition.Reason = metav1.ConditionTrue, berthv1alpha1.ReasonCloudChosen
	result.condition.Message = fmt.Sprintf("%s is the best of %d", results[0].Name, len(results))
	return result
}

// cloudsFor returns the GlobalClouds, and the Clouds of the namespace that the Cluster names.
func cloudsFor(ctx context.Context, reader client.Reader, cluster *berthv1alpha1.Cluster) ([]place, error) {
	var clouds berthv1alpha1.CloudList
	var globalClouds berthv1alpha1.GlobalCloudList
	if namespace := cluster.Spec.Provision.CloudNamespace; namespace != "" {
		if err := reader.List(ctx, &clouds, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("listing the clouds of namespace %s: %w", namespace, err)
		}
	}
	if err := reader.List(ctx, &globalClouds); err != nil {
		return nil, fmt.Errorf("listing global clouds: %w", err)
	}
	var places []place
	for i := range clouds.Items {
		c := &clouds.Items[i]
		places = append(places, newPlace("Cloud", &c.ObjectMeta, c.Spec.Metrics, c.Status.Metrics))
	}
	for i := range globalClouds.Items {
		c := &globalClouds.Items[i]
		places = append(places, newPlace("GlobalCloud", &c.ObjectMeta, c.Spec.Metrics, c.Status.Metrics))
	}
	return places, nil
}

// projectsFor returns the OpenStack projects of the namespace of a MagnumCluster.
func projectsFor(ctx context.Context, reader client.Reader, cluster *berthv1alpha1.MagnumCluster) ([]place, error) {
	var projects berthv1alpha1.OpenStackProjectList
	if err := reader.List(ctx, &projects, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, fmt.Errorf("listing the OpenStack projects of namespace %s: %w", cluster.Namespace, err)
	}
	var places []place
	for i := range projects.Items {
		p := &projects.Items[i]
		made := newPlace("OpenStackProject", &p.ObjectMeta, p.Spec.Metrics, p.Status.Metrics)
		made.template = p.Spec.Template
		places = append(places, made)
	}
	return places, nil
}
