// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth.dev/berth/pkg/simulator/whatif"
)

// change is what --scale and --drain ask for.
type change func(context.Context, *whatif.Simulation) error

// parseScale reads KIND/NAMESPACE/NAME=REPLICAS, or KIND/NAME=REPLICAS in the given namespace.
func parseScale(text, namespace string) (change, error) {
	object, number, found := strings.Cut(text, "=")
	parts := strings.Split(object, "/")
	replicas, err := strconv.ParseInt(number, 10, 32)
	if !found || err != nil || replicas < 0 || len(parts) < 2 || len(parts) > 3 || hasEmpty(parts) {
		return nil, fmt.Errorf("--scale: must be KIND/NAMESPACE/NAME=REPLICAS, as in deployment/shop/web=20, not %.64q", text)
	}
	if len(parts) == 3 {
		namespace = parts[1]
	}
	kind, _, _ := strings.Cut(parts[0], ".")
	return func(ctx context.Context, s *whatif.Simulation) error {
		if err := s.Scale(ctx, kind, namespace, parts[len(parts)-1], int32(replicas)); err != nil {
			return fmt.Errorf("--scale %s: %w", text, err)
		}
		return nil
	}, nil
}

// parseDrain reads cluster/NAME or node/NAME.
func parseDrain(text, _ string) (change, error) {
	kind, name, found := strings.Cut(text, "/")
	if !found || kind == "" || name == "" {
		return nil, fmt.Errorf("--drain: must be cluster/NAME or node/NAME, not %.64q", text)
	}
	return func(ctx context.Context, s *whatif.Simulation) error {
		if err := s.Drain(ctx, kind, name); err != nil {
			return fmt.Errorf("--drain %s: %w", text, err)
		}
		return nil
	}, nil
}

// parseRun reads cronjob/NAMESPACE/NAME, or cronjob/NAME in the given namespace.
func parseRun(text, namespace string) (change, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || hasEmpty(parts) {
		return nil, fmt.Errorf("--run: must be cronjob/NAMESPACE/NAME, as in cronjob/shop/report, not %.64q", text)
	}
	if len(parts) == 3 {
		namespace = parts[1]
	}
	kind, _, _ := strings.Cut(parts[0], ".")
	return func(ctx context.Context, s *whatif.Simulation) error {
		if err := s.Run(ctx, kind, namespace, parts[len(parts)-1]); err != nil {
			return fmt.Errorf("--run %s: %w", text, err)
		}
		return nil
	}, nil
}

// parseAdopt reads lists of NAMESPACE or NAMESPACE/NAME; without one it returns nil.
func parseAdopt(texts []string) (func(namespace, name string) bool, error) {
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // nil is for none
	}
	for _, text := range texts {
		if parts := strings.Split(text, "/"); len(parts) > 2 || hasEmpty(parts) {
			return nil, fmt.Errorf("--as-berth: must be NAMESPACE or NAMESPACE/NAME, not %.64q", text)
		}
	}
	return func(namespace, name string) bool {
		for _, text := range texts {
			if text == namespace || text == namespace+"/"+name {
				return true
			}
		}
		return false
	}, nil
}

func hasEmpty(parts []string) bool {
	return slices.Contains(parts, "")
}
