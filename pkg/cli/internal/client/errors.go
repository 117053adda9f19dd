// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrNotInstalled says that the API server does not know Berth's kinds.
var ErrNotInstalled = errors.New("the Berth API is not installed in this cluster: kubectl apply -k manifests/base")

// DescribeError adds to an error of the API server what the user can do about it. The action,
// "listing pods", says what was tried. A nil error stays nil.
func DescribeError(action string, err error) error {
	var transport *url.Error
	switch {
	case err == nil:
		return nil
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: the API server does not accept these credentials, check --kubeconfig and --context: %w",
			action, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed, ask the administrator for the right to read it: %w", action, err)
	case errors.As(err, &transport):
		return fmt.Errorf("%s: cannot reach the API server, check --kubeconfig and --context: %w", action, transport.Err)
	default:
		return fmt.Errorf("%s: %w", action, err)
	}
}

// DescribeBerthError is DescribeError for the list of a kind of Berth's own, for which "not found"
// means that nobody installed it.
func DescribeBerthError(action string, err error) error {
	if apierrors.IsNotFound(err) {
		return ErrNotInstalled
	}
	return DescribeError(action, err)
}

// IsObjectMissing reports whether the API server did not find an object, rather than the kind.
func IsObjectMissing(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil &&
		status.Status().Details.Name != ""
}
