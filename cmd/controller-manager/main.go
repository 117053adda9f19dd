// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Berth-controller-manager keeps the status of Clusters and PropagationPolicies, and moves pods
// that a policy no longer wants where they are.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"berth.dev/berth/cmd/controller-manager/app"
)

func main() {
	os.Exit(cli.Run(app.NewCommand()))
}
