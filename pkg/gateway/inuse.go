// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"net/http"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/registration"
)

// checkUnused returns a problem unless the cluster may be unregistered. An error about pods is
// never taken for one about the cluster.
func (g *Gateway) checkUnused(ctx context.Context, cluster *berthv1alpha1.Cluster) error {
	err := registration.CheckUnused(ctx, g.config.Pods, cluster)
	var inUse *registration.InUseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inUse):
		return problem(http.StatusConflict, CodeInUse, "%v=true", inUse)
	case isUnreachable(err):
		return unavailable(err)
	default:
		return internal(err)
	}
}
