// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the arguments of Berth's plugins as users write them in the pluginConfig of a
// KubeSchedulerConfiguration of version v1.
//
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=berth.dev/berth/apis/config
// +k8s:defaulter-gen=TypeMeta
// +k8s:defaulter-gen-input=berth.dev/berth/apis/config/v1
// +groupName=kubescheduler.config.k8s.io
package v1
