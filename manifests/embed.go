// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifests has the files that are applied to a cluster, as far as programs read them.
package manifests

import "embed"

// SchedulerConfiguration is the KubeSchedulerConfiguration that berth-scheduler is shipped with.
//
//go:embed base/scheduler-config.yaml
var SchedulerConfiguration []byte

// Definitions are the CustomResourceDefinitions of Berth's kinds, as crds/*.yaml.
//
//go:embed crds/*.yaml
var Definitions embed.FS

// Rules are the parts of the base that an installation is compared with: what the programs may do,
// the admission policies and the flow schema, as base/*.yaml and base/admission/*.yaml.
//
//go:embed base/scheduler-rbac.yaml base/controller-manager-rbac.yaml base/gateway-rbac.yaml
//go:embed base/flow-schema.yaml base/admission/*.yaml
var Rules embed.FS

// Parsers are FeedParsers for kinds of operators, as parsers/*.yaml.
//
//go:embed parsers/*.yaml
var Parsers embed.FS
