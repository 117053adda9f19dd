// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"github.com/spf13/pflag"

	"berth.dev/berth/pkg/explain/placement"
)

// maxSchedulers bounds the profiles that a user can name.
const maxSchedulers = 64

// AddSchedulersFlag adds the flag that tells under which names Berth's scheduler runs, and returns
// its value.
func AddSchedulersFlag(flags *pflag.FlagSet) *Names {
	schedulers := NewNames("scheduler", maxSchedulers)
	flags.Var(schedulers, "scheduler-names",
		"values of spec.schedulerName that Berth's scheduler serves: the names of its profiles (default "+
			placement.SchedulersOf(nil)[0]+")")
	return schedulers
}
