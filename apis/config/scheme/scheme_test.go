// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"fmt"
	"os"
	"testing"

	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"

	"berth.dev/berth/apis/config/scheme"
)

func TestX(t *testing.T) {
	for _, f := range []string{"../../../manifests/base/scheduler-config.yaml", "../../../manifests/components/adds-only/scheduler-config.yaml"} {
		data, _ := os.ReadFile(f)
		o, _, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		c := o.(*schedulerconfig.KubeSchedulerConfiguration)
		for _, p := range c.Profiles[0].PluginConfig {
			fmt.Printf("%s %#v\n", p.Name, p.Args)
		}
	}
}
