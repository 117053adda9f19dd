// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation checks the arguments of Berth's plugins.
package validation

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth.dev/berth/apis/config"
)

// maxFirstReadTimeout is where holding pods back without a reason ends being a kindness.
const maxFirstReadTimeout = 10 * time.Minute

// ValidateNodeGroupPolicyArgs returns what is wrong with the arguments, nil if nothing is.
func ValidateNodeGroupPolicyArgs(path *field.Path, args *config.NodeGroupPolicyArgs) error {
	return validateFirstReadTimeout(path, args.FirstReadTimeout.Duration).ToAggregate()
}

// ValidateClusterResourceArgs returns what is wrong with the arguments, nil if nothing is.
func ValidateClusterResourceArgs(path *field.Path, args *config.ClusterResourceArgs) error {
	errs := validateFirstReadTimeout(path, args.FirstReadTimeout.Duration)
	if args.ScoringStrategy != config.LeastAllocated && args.ScoringStrategy != config.MostAllocated {
		errs = append(errs, field.NotSupported(path.Child("scoringStrategy"), args.ScoringStrategy,
			[]config.ScoringStrategy{config.LeastAllocated, config.MostAllocated}))
	}
	return errs.ToAggregate()
}

func validateFirstReadTimeout(path *field.Path, timeout time.Duration) field.ErrorList {
	if timeout <= 0 || timeout > maxFirstReadTimeout {
		return field.ErrorList{
			field.Invalid(path.Child("firstReadTimeout"), timeout.String(), "must be more than 0s and at most 10m"),
		}
	}
	return nil
}
