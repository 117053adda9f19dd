// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl is kubectl as Kubernetes releases it, for machines that have none: the commands
// of the documentation are tested with it.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
