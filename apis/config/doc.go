// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config holds the arguments of Berth's plugins in a KubeSchedulerConfiguration, in the
// form that the plugins use. Users write the versioned form in apis/config/v1.
//
// +k8s:deepcopy-gen=package
// +groupName=kubescheduler.config.k8s.io
package config
