// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulervalidation "k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	coschedulingconfig "sigs.k8s.io/scheduler-plugins/apis/config"

	"berth.dev/berth/apis/config"
	"berth.dev/berth/apis/config/scheme"
	configv1 "berth.dev/berth/apis/config/v1"
)

// decode reads a configuration as the scheduler does.
func decode(yaml string) (*schedulerconfig.KubeSchedulerConfiguration, error) {
	object, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(yaml), nil, nil)
	if err != nil {
		return nil, err
	}
	return object.(*schedulerconfig.KubeSchedulerConfiguration), nil
}

// argsOf returns the arguments of a plugin in the first profile.
func argsOf(c *schedulerconfig.KubeSchedulerConfiguration, plugin string) runtime.Object {
	for _, p := range c.Profiles[0].PluginConfig {
		if p.Name == plugin {
			return p.Args
		}
	}
	return nil
}

const withoutArgs = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: berth-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeGroupPolicy
`

func TestArgumentsInAConfiguration(t *testing.T) {
	tests := map[string]struct {
		args    string // appended to withoutArgs
		want    time.Duration
		wantErr string
	}{
		"no arguments":    {args: "", want: 10 * time.Second},
		"empty arguments": {args: "args: {}", want: 10 * time.Second},
		"with their kind": {
			args: "args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeGroupPolicyArgs, firstReadTimeout: 3s}",
			want: 3 * time.Second,
		},
		"without their kind":       {args: "args: {firstReadTimeout: 1m30s}", want: 90 * time.Second},
		"null":                     {args: "args: {firstReadTimeout: null}", want: 10 * time.Second},
		"an unknown field":         {args: "args: {firstReadTimeuot: 3s}", wantErr: `unknown field "firstReadTimeuot"`},
		"a field twice":            {args: "args: {firstReadTimeout: 3s, firstReadTimeout: 4s}", wantErr: "firstReadTimeout"},
		"a number for a duration":  {args: "args: {firstReadTimeout: 3}", wantErr: "firstReadTimeout"},
		"no duration":              {args: "args: {firstReadTimeout: soon}", wantErr: "soon"},
		"a list for a duration":    {args: "args: {firstReadTimeout: [3s]}", wantErr: "firstReadTimeout"},
		"arguments of another one": {args: "args: {apiVersion: kubescheduler.config.k8s.io/v1, kind: InterPodAffinityArgs}", wantErr: "NodeGroupPolicy"},
		"in another case":          {args: "args: {firstreadtimeout: 3s}", wantErr: `unknown field "firstreadtimeout"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			yaml := withoutArgs
			if tc.args != "" {
				yaml += "  pluginConfig:\n  - name: NodeGroupPolicy\n    " + tc.args + "\n"
			}
			c, err := decode(yaml)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := &config.NodeGroupPolicyArgs{FirstReadTimeout: metav1.Duration{Duration: tc.want}}
			if diff := cmp.Diff(want, argsOf(c, "NodeGroupPolicy")); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// shipped are the configurations that users start from.
var shipped = []string{"base", filepath.Join("components", "adds-only")}

func TestShippedConfigurations(t *testing.T) {
	for _, name := range shipped {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", "..", "manifests", name, "scheduler-config.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			c, err := decode(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schedulervalidation.ValidateKubeSchedulerConfiguration(c); err != nil {
				t.Errorf("kube-scheduler does not take it: %v", err)
			}
			if len(c.Profiles) != 1 || c.Profiles[0].SchedulerName != "berth-scheduler" {
				t.Errorf("the profiles are %v, want the one that pods ask for, berth-scheduler", c.Profiles)
			}
			lease := c.LeaderElection
			if !lease.LeaderElect || lease.ResourceName != "berth-scheduler" || lease.ResourceNamespace != "berth-system" {
				t.Errorf("the lease is %+v, want one of its own", lease)
			}
			want := &config.NodeGroupPolicyArgs{FirstReadTimeout: metav1.Duration{Duration: 10 * time.Second}}
			if diff := cmp.Diff(want, argsOf(c, "NodeGroupPolicy")); diff != "" {
				t.Errorf("arguments of NodeGroupPolicy (-want +got):\n%s", diff)
			}
		})
	}
}

// The base profile spares pods the stock spreading, which looks at all pods of all nodes and cannot
// be batched.
func TestTheBaseConfigurationHasNoDefaultSpreading(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "manifests", "base", "scheduler-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := decode(string(text))
	if err != nil {
		t.Fatal(err)
	}
	spread, ok := argsOf(c, "PodTopologySpread").(*schedulerconfig.PodTopologySpreadArgs)
	if !ok || spread.DefaultingType != schedulerconfig.ListDefaulting || len(spread.DefaultConstraints) != 0 {
		t.Errorf("arguments of PodTopologySpread are %+v, want an empty list of defaults", spread)
	}
}

// The scheduler prints its configuration at start.
func TestAConfigurationCanBePrinted(t *testing.T) {
	c, err := decode(withoutArgs)
	if err != nil {
		t.Fatal(err)
	}
	info, found := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	if !found {
		t.Fatal("there is no YAML")
	}
	var printed bytes.Buffer
	if err := scheme.Codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion).Encode(c, &printed); err != nil {
		t.Fatal(err)
	}
	again, err := decode(printed.String())
	if err != nil {
		t.Fatalf("what was printed cannot be read: %v", err)
	}
	if diff := cmp.Diff(argsOf(c, "NodeGroupPolicy"), argsOf(again, "NodeGroupPolicy")); diff != "" {
		t.Errorf("arguments after printing and reading (-want +got):\n%s", diff)
	}
}

func TestDefaultsDoNotShareMemory(t *testing.T) {
	var first, second configv1.NodeGroupPolicyArgs
	scheme.Scheme.Default(&first)
	scheme.Scheme.Default(&second)
	if first.FirstReadTimeout == nil || first.FirstReadTimeout.Duration != 10*time.Second {
		t.Fatalf("the default is %v, want 10s", first.FirstReadTimeout)
	}
	first.FirstReadTimeout.Duration = time.Hour
	if second.FirstReadTimeout.Duration != 10*time.Second {
		t.Error("who changes one default changes all")
	}
}

// Coscheduling is compiled in and off; whoever enables it gets its arguments read as strictly.
func TestArgumentsOfThePluginsOfOthers(t *testing.T) {
	yaml := withoutArgs + "      - name: Coscheduling\n"
	c, err := decode(yaml + "  pluginConfig:\n  - name: Coscheduling\n    args: {permitWaitingTimeSeconds: 5}\n")
	if err != nil {
		t.Fatal(err)
	}
	args, ok := argsOf(c, "Coscheduling").(*coschedulingconfig.CoschedulingArgs)
	if !ok || args.PermitWaitingTimeSeconds != 5 || args.PodGroupRejectPercentage != 10 {
		t.Errorf("arguments are %+v, want 5 s and the default percentage 10", argsOf(c, "Coscheduling"))
	}
	if _, err := decode(yaml + "  pluginConfig:\n  - name: Coscheduling\n    args: {permitWaitingTime: 5}\n"); err == nil {
		t.Error("an unknown field is taken")
	}
}
