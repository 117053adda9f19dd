// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// dump writes Berth's objects beside the logs, for whoever wants to know why. What goes wrong with
// that is only said.
func (c *chaos) dump(ctx context.Context) {
	kinds := map[string]func() (any, error){
		"clusters":   func() (any, error) { return c.berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{}) },
		"schedulers": func() (any, error) { return c.berth.BerthV1alpha1().Schedulers().List(ctx, metav1.ListOptions{}) },
		"resources":  func() (any, error) { return c.berth.BerthV1alpha1().ClusterResources().List(ctx, metav1.ListOptions{}) },
		"policies": func() (any, error) {
			return c.berth.BerthV1alpha1().PropagationPolicies(namespace).List(ctx, metav1.ListOptions{})
		},
		"pods":   func() (any, error) { return c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{}) },
		"leases": func() (any, error) { return c.client.CoordinationV1().Leases("").List(ctx, metav1.ListOptions{}) },
	}
	for kind, list := range kinds {
		if err := write(filepath.Join(c.logs, kind+".yaml"), list); err != nil {
			c.sayf("no %s are kept: %v", kind, err)
		}
	}
}

func write(path string, list func() (any, error)) error {
	objects, err := list()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(objects)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.WriteFile(path, text, 0o600)
}
