// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"berth.dev/berth/test/simulation/apiserver"
)

// call is a request on its way from a process to the API server, or its answer on its way back.
type call struct {
	process *process
	request *apiserver.Request
	// name tells the request from all others of a run: who sends it, what it is, and how often that
	// process has sent it before.
	name string
	// fault is what goes wrong with it.
	fault fault
	// due is when the next thing may happen to it.
	due time.Time
	// served is true once the API server has carried it out.
	served bool
	answer apiserver.Answer
	// given up is true once the client waits no longer.
	givenUp bool
	done    chan struct{}
	err     error
}

// transport is what the clients of one process send their requests by.
type transport struct {
	process *process
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := t.process.world
	request, err := apiserver.Parse(r)
	if err != nil {
		return nil, err
	}
	if atOnce(request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !t.process.alive || w.down() {
			return nil, errRefused
		}
		return response(r, w.server.Serve(request), nil), nil
	}
	c := w.send(t.process, request)
	if c == nil {
		select {
		case <-t.process.never:
		case <-w.endedOf(r):
		}
		return nil, errRefused
	}
	select {
	case <-c.done:
	case <-r.Context().Done():
		w.giveUp(c)
		return nil, r.Context().Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c.answer.Watch == nil {
		return response(r, c.answer, nil), nil
	}
	body := newStream(r.Context().Done())
	w.watching(c, body)
	return response(r, c.answer, body), nil
}

// atOnce reports whether a request is answered without the driver: discovery, for which clients
// hold locks while they wait, and what decides nothing: events, and what a client may do.
func atOnce(r *apiserver.Request) bool {
	return slices.Contains([]string{"", "events", "selfsubjectaccessreviews"}, r.Resource.Resource)
}

func response(r *http.Request, answer apiserver.Answer, body io.ReadCloser) *http.Response {
	if body == nil {
		body = io.NopCloser(bytes.NewReader(answer.Body))
	}
	result := &http.Response{
		StatusCode: answer.Code, Status: fmt.Sprintf("%d %s", answer.Code, http.StatusText(answer.Code)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Body: body, Request: r, ContentLength: -1,
		Header: http.Header{"Content-Type": {"application/json"}},
	}
	if answer.Code == http.StatusTooManyRequests {
		result.Header.Set("Retry-After", "1")
	}
	return result
}

// stream is the body of the answer to a watch. It is made of channels, so that who reads it is
// known to wait.
type stream struct {
	mu     sync.Mutex
	frames bytes.Buffer
	news   chan struct{}
	closed chan struct{}
	once   sync.Once
	left   <-chan struct{}
}

func newStream(left <-chan struct{}) *stream {
	return &stream{news: make(chan struct{}, 1), closed: make(chan struct{}), left: left}
}

// Read implements io.Reader.
func (s *stream) Read(into []byte) (int, error) {
	for {
		s.mu.Lock()
		if s.frames.Len() > 0 {
			n, err := s.frames.Read(into)
			s.mu.Unlock()
			return n, err
		}
		s.mu.Unlock()
		select {
		case <-s.news:
		case <-s.closed:
			return 0, io.EOF
		case <-s.left:
			return 0, io.ErrUnexpectedEOF
		}
	}
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// over reports whether nobody reads any more.
func (s *stream) over() bool {
	select {
	case <-s.closed:
		return true
	case <-s.left:
		return true
	default:
		return false
	}
}

func (s *stream) write(frame []byte) {
	s.mu.Lock()
	s.frames.Write(frame)
	s.frames.WriteByte('\n')
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// errors of connections.
var (
	errRefused = connectionError("connect: connection refused")
	errCut     = connectionError("read: connection reset by peer")
)

type connectionError string

func (e connectionError) Error() string { return string(e) }
