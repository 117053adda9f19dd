// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"berth.dev/berth/pkg/registration"
)

const (
	mediaJSON       = "application/json"
	mediaMergePatch = "application/merge-patch+json"

	// maxIgnored is how much of a body is read and forgotten when it is too large.
	maxIgnored = 16 << 20
)

// readProfile reads the body of a request, which has a cluster profile. Whoever may not send one
// must have been refused before.
func readProfile(w http.ResponseWriter, r *http.Request, patience time.Duration) ([]byte, error) {
	if err := checkMediaType(r); err != nil {
		return nil, err
	}
	tooLarge := problem(http.StatusRequestEntityTooLarge, CodeTooLarge, "%v", registration.ErrTooLarge)
	if r.ContentLength > registration.MaxSize && r.Header.Get("Expect") != "" {
		return nil, tooLarge // the client asks before it sends the body
	}
	data, err := readBody(w, r, patience, registration.MaxSize)
	var exceeded *http.MaxBytesError
	if errors.As(err, &exceeded) {
		// Many clients read no answer before they have sent the whole body, Python's urllib for one: to
		// them a connection that is closed meanwhile is broken. The deadline is that of the body.
		_, _ = io.CopyN(io.Discard, r.Body, maxIgnored)
		return nil, tooLarge
	}
	return data, err
}

// refusal is the answer to a body that is no profile, or none of this cluster.
func refusal(err error) *Problem {
	var other *registration.IdentityError
	switch {
	case !errors.As(err, &other):
		return badRequest(CodeMalformed, err)
	case other.ID:
		return badRequest(CodeInvalidID, err)
	default:
		return badRequest(CodeInvalidName, err)
	}
}

// readBody gives the client a while for the body, and no more than that. The error is a Problem, or
// an http.MaxBytesError if there are more bytes than may be.
func readBody(w http.ResponseWriter, r *http.Request, patience time.Duration, most int64) ([]byte, error) {
	connection := http.NewResponseController(w)
	if err := connection.SetReadDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, internal(fmt.Errorf("setting the deadline: %w", err))
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var exceeded *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &exceeded):
		return nil, err
	case errors.As(err, &network) && network.Timeout():
		return nil, problem(http.StatusRequestTimeout, CodeRequestTimeout, "the body did not arrive within %v", patience)
	case err != nil:
		return nil, problem(http.StatusBadRequest, CodeMalformed, "the body could not be read to its end")
	}
	// The connection is read on, to notice when the client goes away.
	if err := connection.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, internal(fmt.Errorf("clearing the deadline: %w", err))
	}
	return data, nil
}

// checkMediaType refuses bodies that are declared to be something else than JSON, or another kind
// of patch than a merge patch.
func checkMediaType(r *http.Request) error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return problem(http.StatusUnsupportedMediaType, CodeUnsupportedMediaType, "the body must not be compressed")
	}
	declared := r.Header.Get("Content-Type")
	if declared == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(declared)
	switch isPatch := r.Method == http.MethodPatch; {
	case err == nil && (media == mediaJSON || isPatch && media == mediaMergePatch):
		return nil
	case isPatch:
		p := problem(http.StatusUnsupportedMediaType, CodeUnsupportedMediaType, "the body must be %s", mediaMergePatch)
		p.header.Set("Accept-Patch", mediaMergePatch)
		return p
	default:
		return problem(http.StatusUnsupportedMediaType, CodeUnsupportedMediaType, "the body must be %s", mediaJSON)
	}
}

// parameters returns the query of a request, which must have no others than these, each at most
// once.
func parameters(r *http.Request, known ...string) (url.Values, error) {
	found, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem(http.StatusBadRequest, CodeInvalidParameter, "the query cannot be understood")
	}
	for name, values := range found {
		if !slices.Contains(known, name) {
			return nil, problem(http.StatusBadRequest, CodeInvalidParameter, "there is no parameter %.64q", name)
		}
		if len(values) > 1 {
			return nil, problem(http.StatusBadRequest, CodeInvalidParameter, "the parameter %s is there twice", name)
		}
	}
	return found, nil
}
