// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Code tells programs what went wrong.
type Code string

// The codes of errors, a promise to programs.
const (
	// CodeMalformed says that the body is no cluster profile; the message tells the line and the
	// column.
	CodeMalformed Code = "Malformed"
	// CodeInvalid says that the API server refuses the values; details tell which.
	CodeInvalid Code = "Invalid"
	// CodeInvalidName says that a name is no DNS label, or reserved.
	CodeInvalidName Code = "InvalidName"
	// CodeInvalidID says that a cluster_id is no UUID.
	CodeInvalidID Code = "InvalidID"
	// CodeInvalidParameter says that a query parameter is unknown or has no such value.
	CodeInvalidParameter Code = "InvalidParameter"
	// CodeContinueExpired says that a list must be asked for from its beginning.
	CodeContinueExpired Code = "ContinueExpired"
	// CodeUnauthenticated says that the request carries no valid credentials.
	CodeUnauthenticated Code = "Unauthenticated"
	// CodeForbidden says that the caller lacks the right.
	CodeForbidden Code = "Forbidden"
	// CodeNotFound says that there is no such cluster.
	CodeNotFound Code = "NotFound"
	// CodeNoSuchPath says that the API has no such path.
	CodeNoSuchPath Code = "NoSuchPath"
	// CodeMethodNotAllowed says that the path has no such method.
	CodeMethodNotAllowed Code = "MethodNotAllowed"
	// CodeRequestTimeout says that the body did not arrive in time.
	CodeRequestTimeout Code = "RequestTimeout"
	// CodeAlreadyExists says that a cluster has the name already.
	CodeAlreadyExists Code = "AlreadyExists"
	// CodeInUse says that replicas placed by Berth run in the cluster.
	CodeInUse Code = "InUse"
	// CodeConflict says that others kept changing the cluster meanwhile.
	CodeConflict Code = "Conflict"
	// CodePreconditionFailed says that If-Match or If-None-Match does not hold.
	CodePreconditionFailed Code = "PreconditionFailed"
	// CodeTooLarge says that the body exceeds the limit.
	CodeTooLarge Code = "TooLarge"
	// CodeUnsupportedMediaType says that the body is declared to be something else than JSON.
	CodeUnsupportedMediaType Code = "UnsupportedMediaType"
	// CodeTooManyRequests says that the caller, or all callers together, ask too often.
	CodeTooManyRequests Code = "TooManyRequests"
	// CodeInternal says that the gateway failed; its log tells why under the id of the request.
	CodeInternal Code = "Internal"
	// CodeUnavailable says that the API server cannot answer at present.
	CodeUnavailable Code = "Unavailable"
)

// Problem is the body of every answer that is no success.
type Problem struct {
	// Code tells programs what went wrong.
	Code Code `json:"error_code"`
	// Message tells people.
	Message string `json:"error_message"`
	// RequestID finds the request in the log of the gateway. The header X-Request-Id has it too.
	RequestID string `json:"request_id"`
	// Details are the faults that the API server found in the values, by field of the Cluster kind.
	Details []Detail `json:"details,omitempty"`

	status int
	header http.Header
	// cause is what the log tells and the caller does not get to know.
	cause error
}

// Detail is one fault.
type Detail struct {
	// Field is the path of the value in the Cluster kind, such as "spec.flavors[2].totalCapacity".
	Field string `json:"field"`
	// Message is what the API server says about it.
	Message string `json:"message"`
}

// Error returns the message with what caused it.
func (p *Problem) Error() string {
	if p.cause != nil {
		return p.Message + ": " + p.cause.Error()
	}
	return p.Message
}

func problem(status int, code Code, format string, args ...any) *Problem {
	return &Problem{status: status, Code: code, Message: fmt.Sprintf(format, args...), header: http.Header{}}
}

func badRequest(code Code, err error) *Problem {
	return problem(http.StatusBadRequest, code, "%v", err)
}

func unavailable(cause error) *Problem {
	p := problem(http.StatusServiceUnavailable, CodeUnavailable, "the API server cannot answer at present, try again")
	p.header.Set("Retry-After", retryAfter)
	p.cause = cause
	return p
}

func internal(cause error) *Problem {
	p := problem(http.StatusInternalServerError, CodeInternal, "the gateway failed, its log tells why under the request id")
	p.cause = cause
	return p
}

// problemOf makes a problem of an error, which is mostly one of the API server.
func problemOf(err error) *Problem {
	var known *Problem
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &known):
		return known
	case isUnreachable(err):
		return unavailable(err)
	case errors.As(err, &status):
		return problemOfStatus(err)
	default:
		return internal(err)
	}
}

// isUnreachable reports whether the API server could not be asked, or has no time for an answer.
func isUnreachable(err error) bool {
	var transport *url.Error
	var network net.Error
	return errors.As(err, &transport) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, context.Canceled) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || apierrors.IsServiceUnavailable(err)
}

func problemOfStatus(err error) *Problem {
	switch {
	case apierrors.IsNotFound(err):
		// Without the CRD the API server knows no such path, and names no object.
		if detailsOf(err).name == "" {
			return unavailable(err)
		}
		return problem(http.StatusNotFound, CodeNotFound, "there is no cluster %q", detailsOf(err).name)
	case apierrors.IsAlreadyExists(err):
		return problem(http.StatusConflict, CodeAlreadyExists, "a cluster with the name %q is registered already", detailsOf(err).name)
	case apierrors.IsInvalid(err):
		p := problem(http.StatusBadRequest, CodeInvalid, "%v", err)
		p.Details = detailsOf(err).faults
		return p
	case apierrors.IsBadRequest(err):
		return problem(http.StatusBadRequest, CodeInvalid, "%v", err)
	case apierrors.IsRequestEntityTooLargeError(err):
		return problem(http.StatusRequestEntityTooLarge, CodeTooLarge, "%v", err)
	case apierrors.IsConflict(err):
		return problem(http.StatusConflict, CodeConflict, "others keep changing the cluster, try again")
	default:
		return internal(err)
	}
}

// statusDetails are what an error of the API server tells about its object.
type statusDetails struct {
	name   string
	faults []Detail
}

func detailsOf(err error) statusDetails {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return statusDetails{}
	}
	details := status.Status().Details
	found := statusDetails{name: details.Name}
	for _, cause := range details.Causes {
		found.faults = append(found.faults, Detail{Field: cause.Field, Message: cause.Message})
	}
	return found
}
