// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/constraint"
	"berth.dev/berth/pkg/placement/rank"
)

// constraints reads the metric constraints that are in force, and remembers what it has parsed: the
// same few texts come again in each pass.
type constraints struct {
	byText map[string]*constraint.Constraint
	byPod  map[string][]*constraint.Constraint
}

// constrainedIndex is the index of the pods that have constraints on metrics of Clusters, all under
// isConstrained.
const constrainedIndex, isConstrained = "berth.dev/metric-constraints", "true"

// IndexPods adds the index of pods that the controller needs. It is to be called once, before the
// cache starts.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &corev1.Pod{}, constrainedIndex, func(object client.Object) []string {
		if _, found := object.GetAnnotations()[berthv1alpha1.ClusterMetricConstraintAnnotation]; found {
			return []string{isConstrained}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing pods that have constraints: %w", err)
	}
	return nil
}

// read returns the constraints of Applications, PropagationPolicies, which there are for each
// ClusterPropagationPolicy too, pods, Clusters to be made and MagnumClusters, by the name of the
// metric. What cannot be parsed is told where it stands.
func (c *constraints) read(ctx context.Context, reader client.Reader) (map[string][]*constraint.Constraint, error) {
	var (
		apps     berthv1alpha1.ApplicationList
		policies berthv1alpha1.PropagationPolicyList
		pods     corev1.PodList
		clusters berthv1alpha1.ClusterList
		magnums  berthv1alpha1.MagnumClusterList
	)
	for _, list := range []client.ObjectList{&apps, &policies, &clusters, &magnums} {
		if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil && !apimeta.IsNoMatchError(err) {
			return nil, fmt.Errorf("listing what has constraints: %w", err)
		}
	}
	if err := reader.List(ctx, &pods, client.UnsafeDisableDeepCopy, client.MatchingFields{constrainedIndex: isConstrained}); err != nil {
		return nil, fmt.Errorf("listing pods that have constraints: %w", err)
	}
	now := &constraints{byText: map[string]*constraint.Constraint{}, byPod: map[string][]*constraint.Constraint{}}
	for i := range apps.Items {
		c.add(now, apps.Items[i].Spec.Constraints.ClusterMetrics)
	}
	for i := range policies.Items {
		if own := policies.Items[i].Spec.Placement.Constraints; own != nil {
			c.add(now, own.ClusterMetrics)
		}
	}
	for i := range clusters.Items {
		if own := clusters.Items[i].Spec.Provision; own != nil {
			c.add(now, own.CloudMetrics)
		}
	}
	for i := range magnums.Items {
		c.add(now, magnums.Items[i].Spec.Constraints.ProjectMetrics)
	}
	for i := range pods.Items {
		c.addPod(now, pods.Items[i].Annotations[berthv1alpha1.ClusterMetricConstraintAnnotation])
	}
	*c = *now
	return c.byName(), nil
}

// add parses the constraints of a list that are new.
func (c *constraints) add(now *constraints, texts []string) {
	for _, text := range texts {
		parsed, known := c.byText[text]
		if !known {
			parsed, _ = constraint.Parse(constraint.Metric, text)
		}
		now.byText[text] = parsed
	}
}

// addPod parses the annotation of a pod if it is new.
func (c *constraints) addPod(now *constraints, text string) {
	if _, taken := now.byPod[text]; taken {
		return
	}
	parsed, known := c.byPod[text]
	if !known {
		if wish, err := rank.ParseAnnotations(map[string]string{berthv1alpha1.ClusterMetricConstraintAnnotation: text}); err == nil {
			parsed = wish.Constraints.Metrics
		}
	}
	now.byPod[text] = parsed
}

func (c *constraints) byName() map[string][]*constraint.Constraint {
	found := map[string][]*constraint.Constraint{}
	for _, parsed := range c.byText {
		if parsed != nil {
			found[parsed.Key()] = append(found[parsed.Key()], parsed)
		}
	}
	for _, list := range c.byPod {
		for _, parsed := range list {
			found[parsed.Key()] = append(found[parsed.Key()], parsed)
		}
	}
	return found
}

// crosses reports whether a constraint in force on a metric holds for one of two values only.
func (w *world) crosses(name string, before, after float64) bool {
	return before != after && slices.ContainsFunc(w.constraints[name], func(c *constraint.Constraint) bool {
		return c.MatchNumber(constraint.NumberOf(before)) != c.MatchNumber(constraint.NumberOf(after))
	})
}
