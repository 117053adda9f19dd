// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36 && !kubernetes_1_37

package plugins

import (
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"sigs.k8s.io/scheduler-plugins/pkg/capacityscheduling"
	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling"
)

// gangsNeedServer reports that each of these plugins makes a client of its own.
const gangsNeedServer = true

// gangs returns the plugins of scheduler-plugins that Berth carries.
func gangs() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		coscheduling.Name:       coscheduling.New,
		capacityscheduling.Name: capacityscheduling.New,
	}
}
