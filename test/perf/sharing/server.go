// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"berth.dev/berth/test/simulation/apiserver"
)

// server is an API server in memory that answers over HTTP, and counts what it is asked.
type server struct {
	mu      sync.Mutex
	memory  *apiserver.Server
	encoder encoder
	streams map[*stream]bool
	// asked counts what schedulers have asked since it was taken last.
	asked counts
	// news is told of each pod that was bound.
	bound int
	news  chan struct{}
}

// counts are requests that were answered, the bytes of the answers and of what watches have told,
// and the writes that were refused because somebody else's came first.
type counts struct {
	requests, bytes, refused int
}

func newServer(memory *apiserver.Server) *server {
	return &server{memory: memory, encoder: newEncoder(), streams: map[*stream]bool{}, news: make(chan struct{}, 1)}
}

// do carries out a request of the benchmark itself, which is not counted.
func (s *server) do(verb string, resource schema.GroupVersionResource, namespace, name, subresource string, body any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.memory.Serve(apiserver.NewRequest(verb, resource, namespace, name, subresource, body))
	if answer.Code >= http.StatusBadRequest {
		return fmt.Errorf("%s %s %s: %s", verb, resource.Resource, name, answer.Body)
	}
	return s.deliver()
}

// take returns what was asked since the last call.
func (s *server) take() counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.asked
	s.asked = counts{}
	return taken
}

// boundPods returns how many pods have been bound.
func (s *server) boundPods() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request, err := apiserver.Parse(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	contentType, open, answer, err := s.answer(request, takesProtobuf(r, request))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(answer.Code)
	if open == nil {
		_, _ = w.Write(answer.Body) // who has gone does not read it
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, open)
	}()
	open.copyTo(w, r.Context().Done())
}

// answer serves a request, and returns the stream of a watch. What others are to hear of it is on
// its way then.
func (s *server) answer(request *apiserver.Request, inProtobuf bool) (contentType string, open *stream, answer apiserver.Answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	contentType, answer = jsonType, s.memory.Serve(request)
	switch {
	case answer.Watch != nil:
		open = newStream(answer.Watch, inProtobuf)
		s.streams[open] = true
		if inProtobuf {
			contentType = protobufWatch
		}
	case inProtobuf:
		contentType = protobufType
		if answer.Body, err = s.encoder.object(answer.Body); err != nil {
			return "", nil, answer, err
		}
	}
	s.count(request, &answer)
	return contentType, open, answer, s.deliver()
}

func (s *server) count(r *apiserver.Request, answer *apiserver.Answer) {
	s.asked.requests++
	s.asked.bytes += len(answer.Body)
	if answer.Code == http.StatusConflict {
		s.asked.refused++
	}
	if r.Verb == "create" && strings.HasSuffix(r.Kind(), "pods/binding") && answer.Code == http.StatusCreated {
		s.bound++
		select {
		case s.news <- struct{}{}:
		default:
		}
	}
}

// deliver tells all watches what they have not been told yet. The caller holds the lock.
func (s *server) deliver() error {
	encoded := map[string][]byte{} // most events are for many
	for open := range s.streams {
		told := 0
		for event := open.watch.Next(); event != nil; event = open.watch.Next() {
			frame := slices.Concat(event, []byte{'\n'})
			if open.inProtobuf {
				known, found := encoded[string(event)]
				if !found {
					var err error
					if known, err = s.encoder.event(event); err != nil {
						return err
					}
					encoded[string(event)] = known
				}
				frame = known
			}
			open.add(frame)
			told += len(frame)
		}
		s.asked.bytes += told
		if told > 0 {
			open.wake()
		}
	}
	return nil
}

// stream is what a watch has to tell on its way to the client.
type stream struct {
	watch      *apiserver.Watch
	inProtobuf bool
	news       chan struct{}

	mu      sync.Mutex
	pending bytes.Buffer
}

func newStream(watch *apiserver.Watch, inProtobuf bool) *stream {
	return &stream{watch: watch, inProtobuf: inProtobuf, news: make(chan struct{}, 1)}
}

func (o *stream) add(frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending.Write(frame)
}

func (o *stream) wake() {
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// copyTo sends what there is until the client has gone.
func (o *stream) copyTo(w http.ResponseWriter, gone <-chan struct{}) {
	control := http.NewResponseController(w)
	var next bytes.Buffer
	for {
		o.mu.Lock()
		next, o.pending = o.pending, next
		o.mu.Unlock()
		if _, err := next.WriteTo(w); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
		select {
		case <-o.news:
		case <-gone:
			return
		}
	}
}
