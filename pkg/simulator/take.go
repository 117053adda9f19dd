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

// Take is Fill for all pods that an object is to have in a cluster. It says how many of them fit
// and what stops the next one, "deployment web: 2 of 9 pods fit: …" for instance; empty if all do.
func (s *Snapshot) Take(ctx context.Context, cluster, object string, pod *corev1.Pod, pods int64) (lack string, err error) {
	room, err := s.Fill(ctx, cluster, pod, int(min(pods, math.MaxInt32)))
	if err != nil || int64(room.Copies) >= pods {
		return "", err
	}
	return fmt.Sprintf("%s: %d of %d pods fit: %s", object, room.Copies, pods, strings.TrimSuffix(room.LimitedBy, ".")), nil
}
