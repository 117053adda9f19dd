// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/constraint"
)

// ParseCloudConstraints reads constraints on clouds or projects. The error names the list that is
// wrong, by the names given, and the column of the mistake.
func ParseCloudConstraints(labelsName string, labels []string, metricsName string, metrics []string) (Constraints, error) {
	parsedLabels, err := parseAll(labelsName, constraint.Label, labels)
	if err != nil {
		return Constraints{}, err
	}
	parsedMetrics, err := parseAll(metricsName, constraint.Metric, metrics)
	return Constraints{Labels: parsedLabels, Metrics: parsedMetrics}, err
}

// ParseConstraints reads the constraints of a user. The error names the field that is wrong and the
// column of the mistake.
func ParseConstraints(c *berthv1alpha1.ClusterConstraints) (Constraints, error) {
	if c == nil {
		return Constraints{}, nil
	}
	parsed, err := ParseCloudConstraints("clusterLabels", c.ClusterLabels, "clusterMetrics", c.ClusterMetrics)
	parsed.CustomResources = c.CustomResources
	return parsed, err
}

func parseAll(field string, kind constraint.Kind, texts []string) ([]*constraint.Constraint, error) {
	parsed := make([]*constraint.Constraint, 0, len(texts))
	for i, text := range texts {
		c, err := constraint.Parse(kind, text)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: constraint %.100q: %w", field, i, text, err)
		}
		parsed = append(parsed, c)
	}
	return parsed, nil
}

// ClusterCandidate returns a Cluster as a candidate for something in a namespace. Its metrics are
// those of its spec with the values of its status. Metrics of other namespaces do not count. A
// Cluster about which nothing is observed yet counts as online, unless it is still to be made.
func ClusterCandidate(cluster *berthv1alpha1.Cluster, namespace string) Candidate {
	c := Candidate{
		Name: cluster.Name, Labels: LabelsOf(cluster), CustomResources: cluster.Spec.CustomResources,
		Unavailable: Unavailable(cluster), Cordoned: cluster.Spec.Unschedulable,
		Numbers: numbers(&cluster.Spec.ClusterProfile),
	}
	if online := cluster.Online(); online != nil {
		c.Since = online.LastTransitionTime.Time
	}
	c.Metrics, c.Remarks = sampled(cluster.Spec.Metrics, cluster.Spec.Metrics, cluster.Status.Metrics, namespace)
	c.Unobserved = unobserved(cluster, namespace)
	return c
}

// unobserved returns what nobody has looked at yet: the nodes of a Cluster, and those of its
// metrics that have neither a value nor a reason why not.
func unobserved(cluster *berthv1alpha1.Cluster, namespace string) (unknown []string) {
	if cluster.Spec.Provision == nil && cluster.Online() == nil {
		unknown = append(unknown, "its nodes")
	}
	for _, reference := range cluster.Spec.Metrics {
		attempted := sampleOf(reference, cluster.Status.Metrics) >= 0
		if !attempted && (reference.Namespace == "" || reference.Namespace == namespace) {
			unknown = append(unknown, "metric "+reference.Name)
		}
	}
	return unknown
}

// ApplicationCandidate is ClusterCandidate for an Application that weighs metrics for itself. Those
// of the cluster still count for constraints.
func ApplicationCandidate(cluster *berthv1alpha1.Cluster, app *berthv1alpha1.Application) Candidate {
	c := ClusterCandidate(cluster, app.Namespace)
	if len(app.Spec.Metrics) > 0 {
		c.Weighed, c.Remarks = sampled(app.Spec.Metrics, cluster.Spec.Metrics, cluster.Status.Metrics, app.Namespace)
	}
	return c
}

// CloudCandidate returns a Cloud, GlobalCloud or OpenStackProject as a candidate. Its metrics are
// those of its spec with the values of its status. Metrics of other namespaces than its own do not
// count.
func CloudCandidate(
	name string, meta *metav1.ObjectMeta, references []berthv1alpha1.MetricReference, samples []berthv1alpha1.MetricSample,
) Candidate {
	c := Candidate{Name: name, Labels: meta.Labels}
	if meta.DeletionTimestamp != nil {
		c.Unavailable = BeingDeleted
	}
	c.Metrics, c.Remarks = sampled(references, references, samples, meta.Namespace)
	return c
}

// Unavailable returns why nothing is to be in a Cluster, Offline, Drained or BeingDeleted, and an
// empty text if something may. It goes by the condition Online, which stays as it is while single
// nodes come and go; a Cluster about which nothing is observed yet counts as online, unless it is
// still to be made. Whether a node takes a pod at this moment is another question: see
// topology.Cluster.TakesPods.
func Unavailable(cluster *berthv1alpha1.Cluster) string {
	online := cluster.Online()
	switch {
	case cluster.DeletionTimestamp != nil:
		return BeingDeleted
	case cluster.Spec.Drain:
		return Drained
	case online == nil && cluster.Spec.Provision == nil, online != nil && online.Status == metav1.ConditionTrue:
		return ""
	}
	return Offline
}

// sampled puts the last values to the references to metrics, of which a place has those that it
// lists.
func sampled(
	references, listed []berthv1alpha1.MetricReference, samples []berthv1alpha1.MetricSample, namespace string,
) (metrics []Metric, remarks []string) {
	for _, reference := range references {
		if reference.Namespace != "" && reference.Namespace != namespace {
			remarks = append(remarks, fmt.Sprintf("metric %s: it is of namespace %s and does not count in %s",
				reference.Name, reference.Namespace, namespace))
			continue
		}
		metric := Metric{Name: reference.Name, Weight: reference.Weight}
		switch i := sampleOf(reference, samples); {
		case i >= 0:
			metric.fill(&samples[i])
		case !slices.ContainsFunc(listed, func(r berthv1alpha1.MetricReference) bool {
			return r.Name == reference.Name && r.Namespace == reference.Namespace
		}):
			metric.Freshness = Absent
		}
		metrics = append(metrics, metric)
	}
	return metrics, remarks
}

// sampleOf returns where the sample of the metric that a reference means is, -1 for nowhere.
func sampleOf(reference berthv1alpha1.MetricReference, samples []berthv1alpha1.MetricSample) int {
	return slices.IndexFunc(samples, func(s berthv1alpha1.MetricSample) bool {
		return s.Name == reference.Name && s.Namespace == reference.Namespace
	})
}

func (m *Metric) fill(sample *berthv1alpha1.MetricSample) {
	m.Problem, m.Rejected = sample.Reason, sample.Reason == berthv1alpha1.ReasonOutOfRange
	if sample.Value == nil || sample.Normalized == nil {
		if sample.Reason == berthv1alpha1.ReasonMissingLabel {
			m.Freshness = Absent
		}
		return
	}
	m.Value, m.Normalized, m.Freshness = *sample.Value, *sample.Normalized, Fresh
	if sample.Stale {
		m.Freshness = Stale
	}
}

// numbers returns the numbers of a profile by the names that constraints use. What is 0 was not
// given, except in lists.
func numbers(profile *berthv1alpha1.ClusterProfile) map[string]constraint.Number {
	found := map[string]constraint.Number{}
	for name, value := range map[string]int64{
		"serverPrice": profile.ServerPrice, "cpuCapacity": profile.CPUCapacity,
		"memCapacity": profile.MemCapacity, "eipCapacity": profile.EIPCapacity,
	} {
		if value != 0 {
			found[name] = constraint.NumberOfInt(value)
		}
	}
	for _, flavor := range profile.Flavors {
		found["flavor."+flavor.FlavorID] = constraint.NumberOfInt(flavor.TotalCapacity)
	}
	for _, storage := range profile.Storage {
		found["storage."+storage.TypeID] = constraint.NumberOfInt(storage.StorageCapacity)
	}
	return found
}
