// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metricsources

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const (
	// maxHeaders bounds the headers of an answer, in bytes.
	maxHeaders = 64 << 10
	// idle is how long a connection is kept for the next attempt.
	idle = 90 * time.Second
)

// newClient returns a client for one endpoint that keeps the rules of the package, apart from the
// deadline.
func newClient(guard *Guard, config *tls.Config, endpoint *url.URL, credentials *Credentials) *http.Client {
	dialer := &net.Dialer{Timeout: Deadline, Control: guard.control}
	return &http.Client{
		Timeout: Deadline,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &careful{endpoint: endpoint, credentials: credentials, next: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    Deadline,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConnsPerHost:    1,
			MaxConnsPerHost:        4,
			IdleConnTimeout:        idle,
		}},
	}
}

// careful is a transport that sends credentials to one host only, takes no answer but a good one,
// and bounds its body.
type careful struct {
	endpoint    *url.URL
	credentials *Credentials
	next        http.RoundTripper
}

// CloseIdleConnections lets http.Client close connections that are not needed any more.
func (c *careful) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// RoundTrip implements http.RoundTripper.
func (c *careful) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.credentials != nil && request.URL.Host == c.endpoint.Host && request.URL.Scheme == c.endpoint.Scheme {
		request = request.Clone(request.Context())
		if c.credentials.Token != "" {
			request.Header.Set("Authorization", "Bearer "+c.credentials.Token)
		} else {
			request.SetBasicAuth(c.credentials.Username, c.credentials.Password)
		}
	}
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		// Prometheus' client then tries again with GET.
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		// The query may be wrong, and others right.
		response.Body.Close()
		return nil, failure(berthv1alpha1.ReasonBadAnswer, "the provider answered with HTTP status %d", response.StatusCode)
	default:
		response.Body.Close()
		return nil, outage(berthv1alpha1.ReasonBadAnswer, "the provider answered with HTTP status %d", response.StatusCode)
	}
	if response.ContentLength > maxBody {
		response.Body.Close()
		return nil, errTooLarge
	}
	response.Body = &bounded{ReadCloser: response.Body, left: maxBody}
	return response, nil
}

var errTooLarge = outage(berthv1alpha1.ReasonBadAnswer, "the provider's answer is larger than %d bytes", maxBody)

// bounded is a body that fails where it becomes too large.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	// One more byte than allowed tells a body that ends from one that goes on.
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// explain turns whatever went wrong with a request into an *Error.
func explain(ctx context.Context, err error) *Error {
	var known *Error
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return outage(berthv1alpha1.ReasonTimeout, "the provider did not answer within %v", Deadline)
	case errors.As(err, &certificate):
		return outage(berthv1alpha1.ReasonUnreachable, "the provider's certificate could not be verified")
	}
	var operation *net.OpError
	var request *url.Error
	if errors.As(err, &operation) || errors.As(err, &request) {
		return outage(berthv1alpha1.ReasonUnreachable, "no connection to the provider could be made")
	}
	return outage(berthv1alpha1.ReasonBadAnswer, "the provider's answer cannot be understood")
}
