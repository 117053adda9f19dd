// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"fmt"

	"github.com/spf13/pflag"

	"berth.dev/berth/pkg/placement/rank"
)

// maxStickiness is the largest stickiness that an application can set.
const maxStickiness = 1_000_000

// Stickiness are the flags --stickiness-value and --stickiness-weight: what holds for applications
// that set none.
type Stickiness struct {
	rank.Stickiness
}

// AddTo adds the flags. The remark ends their usage.
func (s *Stickiness) AddTo(flags *pflag.FlagSet, remark string) {
	s.Stickiness = rank.DefaultStickiness
	flags.Float64Var(&s.Value, "stickiness-value", s.Value, "value of the stickiness of applications that set none"+remark)
	flags.Float64Var(&s.Weight, "stickiness-weight", s.Weight, "weight of the stickiness of applications that set none"+remark)
}

// Check returns an error that names the flag whose number is out of range.
func (s *Stickiness) Check() error {
	for name, number := range map[string]float64{"value": s.Value, "weight": s.Weight} {
		if !(number >= 0 && number <= maxStickiness) {
			return fmt.Errorf("--stickiness-%s must be from 0 to %d", name, maxStickiness)
		}
	}
	return nil
}
