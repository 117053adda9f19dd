// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow

import (
	fwk "k8s.io/kube-scheduler/framework"
)

// statusSetter is what the framework hands to PostFilter, beside what the interface promises.
type statusSetter interface {
	Set(node string, status *fwk.Status)
}

// Explain gives nodes that PreFilter kept away from Filter the reasons that Filter would have
// given. The framework has but one reason for all of them, which tells the user no more than the
// name of a plugin, and keeps preemption away from them. Rejection returns why the n-th of the
// nodes was kept away, nil for those that Filter was asked about.
func Explain(nodes []fwk.NodeInfo, statuses fwk.NodeToStatusReader, rejection func(n int) *fwk.Status) {
	setter, ok := statuses.(statusSetter)
	if !ok {
		return
	}
	for n, info := range nodes {
		if status := rejection(n); status != nil {
			setter.Set(info.Node().Name, status)
		}
	}
}
