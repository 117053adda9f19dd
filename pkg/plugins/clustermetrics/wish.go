// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package clustermetrics

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/constraint"
	"berth.dev/berth/pkg/placement/rank"
	"berth.dev/berth/pkg/plugins/internal/catalog"
)

const (
	// maxAnnotation bounds an annotation in bytes before it is read, maxListed how many constraints it can hold.
	maxAnnotation = 20 << 10
	maxListed     = 20
)

// asks says whether a pod has an annotation of this plugin.
func asks(pod *corev1.Pod) bool {
	if len(pod.Annotations) == 0 {
		return false
	}
	for _, key := range keys {
		if _, found := pod.Annotations[key]; found {
			return true
		}
	}
	return false
}

var keys = [...]string{
	berthv1alpha1.ClusterLabelConstraintAnnotation, berthv1alpha1.ClusterMetricConstraintAnnotation,
	berthv1alpha1.ClusterResourceConstraintAnnotation, berthv1alpha1.ClusterRankingAnnotation,
}

// wish is what a pod wants of the cluster where it runs.
type wish struct {
	constraints rank.Constraints
	ranked      bool
}

// errInvalid says which annotation or policy cannot be understood, and why.
type errInvalid struct {
	what string
	err  error
}

func (e *errInvalid) Error() string { return fmt.Sprintf(ErrReasonInvalid, e.what, e.err) }

// wishOf returns what a pod wants by its annotations and by its policy, which may be nil. The error is an *errInvalid.
func wishOf(pod *corev1.Pod, policy *catalog.Policy) (*wish, error) {
	w := &wish{}
	for _, key := range keys {
		text, found := pod.Annotations[key]
		if !found {
			continue
		}
		if err := w.read(key, text); err != nil {
			return nil, &errInvalid{"annotation " + key, err}
		}
	}
	if policy == nil || !policy.Constrained() {
		return w, nil
	}
	if policy.ConstraintsErr != nil {
		return nil, &errInvalid{"constraints of policy " + policy.Object.Name, policy.ConstraintsErr}
	}
	w.constraints.Labels = slices.Concat(w.constraints.Labels, policy.Constraints.Labels)
	w.constraints.Metrics = slices.Concat(w.constraints.Metrics, policy.Constraints.Metrics)
	w.constraints.CustomResources = slices.Concat(w.constraints.CustomResources, policy.Constraints.CustomResources)
	return w, nil
}

func (w *wish) read(key, text string) error {
	if key == berthv1alpha1.ClusterRankingAnnotation {
		if text != berthv1alpha1.ClusterRankingMetrics {
			return fmt.Errorf("expected %q, found %.20q", berthv1alpha1.ClusterRankingMetrics, text)
		}
		w.ranked = true
		return nil
	}
	parts, err := split(text)
	if err != nil {
		return err
	}
	switch key {
	case berthv1alpha1.ClusterLabelConstraintAnnotation:
		w.constraints.Labels, err = parse(constraint.Label, parts)
	case berthv1alpha1.ClusterMetricConstraintAnnotation:
		w.constraints.Metrics, err = parse(constraint.Metric, parts)
	default:
		for _, p := range parts {
			w.constraints.CustomResources = append(w.constraints.CustomResources, strings.TrimSpace(p.text))
		}
	}
	return err
}

// part is a piece of a text that begins after so many characters of it.
type part struct {
	text   string
	offset int
}

// split cuts a text at semicolons and line breaks and leaves out what is blank.
func split(text string) ([]part, error) {
	if len(text) > maxAnnotation {
		return nil, fmt.Errorf("it has more than %d bytes", maxAnnotation)
	}
	var parts []part
	offset := 0
	for piece := range strings.SplitAfterSeq(text, "\n") {
		for p := range strings.SplitAfterSeq(piece, ";") {
			if trimmed := strings.TrimRight(p, ";\r\n"); strings.TrimSpace(trimmed) != "" {
				parts = append(parts, part{trimmed, offset})
			}
			offset += len([]rune(p))
		}
	}
	switch {
	case len(parts) == 0:
		return nil, errors.New("column 1: expected a constraint, found the end")
	case len(parts) > maxListed:
		return nil, fmt.Errorf("column %d: there are more than %d constraints", parts[maxListed].offset+1, maxListed)
	}
	return parts, nil
}

// parse reads the parts of an annotation. A mistake has its column in the whole annotation.
func parse(kind constraint.Kind, parts []part) ([]*constraint.Constraint, error) {
	parsed := make([]*constraint.Constraint, 0, len(parts))
	for _, p := range parts {
		c, err := constraint.Parse(kind, p.text)
		var mistake *constraint.SyntaxError
		if errors.As(err, &mistake) {
			return nil, &constraint.SyntaxError{Column: mistake.Column + p.offset, Message: mistake.Message}
		}
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, c)
	}
	return parsed, nil
}
