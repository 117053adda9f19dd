// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"context"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Take is Fill for all pods that an object is to have in a cluster and that are not there yet. It
// says how many fit and what stops the next one, "deployment web: 2 of 9 pods fit: …" for instance;
// empty if all do.
func (s *Snapshot) Take(ctx context.Context, cluster, object string, pod *corev1.Pod, there, pods int64) (lack string, err error) {
	if there >= pods {
		return "", nil
	}
	room, err := s.Fill(ctx, cluster, pod, int(min(pods-there, math.MaxInt32)))
	fit := there + int64(room.Copies)
	if err != nil || fit >= pods {
		return "", err
	}
	return fmt.Sprintf("%s: %d of %d pods fit: %s", object, fit, pods, strings.TrimSuffix(room.LimitedBy, ".")), nil
}
