// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refused reports whether a write that was answered with the error was certainly not carried out,
// and will not be. One that had no answer may arrive yet, and one of 5xx may have been carried out.
func Refused(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsUnauthorized(err) || apierrors.IsTooManyRequests(err) ||
		errors.Is(err, ErrClosed)
}
