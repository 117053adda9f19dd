// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Berth-gateway serves the registration API: it registers, lists, shows, changes and unregisters
// Clusters over REST.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"berth.dev/berth/cmd/gateway/app"
)

func main() {
	os.Exit(cli.Run(app.NewCommand()))
}
