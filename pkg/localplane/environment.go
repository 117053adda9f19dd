// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// SchedulerEnv returns the environment that berth-scheduler has in
// production: the variables of its container in the directory of manifests.
func SchedulerEnv(manifests string) ([]string, error) {
	path := filepath.Join(manifests, "base", "scheduler.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler's environment: %w", err)
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	for {
		deployment := &appsv1.Deployment{}
		err := documents.Decode(deployment)
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading the scheduler's environment: %s has no Deployment", path)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the scheduler's environment from %s: %w", path, err)
		}
		if containers := deployment.Spec.Template.Spec.Containers; deployment.Kind == "Deployment" && len(containers) > 0 {
			return EnvOf(&containers[0]), nil
		}
	}
}

// EnvOf returns the variables of a container whose values stand in it, as
// NAME=VALUE. Those that refer to something else are left out.
func EnvOf(container *corev1.Container) []string {
	var env []string
	for i := range container.Env {
		if v := &container.Env[i]; v.ValueFrom == nil {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	return env
}
