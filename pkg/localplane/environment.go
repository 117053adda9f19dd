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
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// ShippedEnv returns the environment that a program of Berth, such as BerthScheduler, has in
// production: the variables of its container in the directory of manifests.
func ShippedEnv(manifests, program string) ([]string, error) {
	path := filepath.Join(manifests, "base", strings.TrimPrefix(program, "berth-")+".yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the environment of %s: %w", program, err)
	}
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content))
	for {
		deployment := &appsv1.Deployment{}
		err := documents.Decode(deployment)
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading the environment of %s: %s has no Deployment", program, path)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the environment of %s from %s: %w", program, path, err)
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
