// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !kubernetes_1_36 && !kubernetes_1_37

package scheme

import (
	_ "sigs.k8s.io/scheduler-plugins/apis/config/scheme" // the arguments of Coscheduling and CapacityScheduling
)
