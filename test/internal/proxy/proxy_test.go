// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"berth.dev/berth/test/internal/proxy"
)

const (
	binding = "/api/v1/namespaces/default/pods/p/binding"
	status  = "/api/v1/namespaces/default/pods/p/status"
)

// send returns the status of the answer to a request, 0 if there is none.
func send(t *testing.T, p *proxy.Proxy, method, path string) int {
	t.Helper()
	return sendBody(t, p, method, path, "{}")
}

func sendBody(t *testing.T, p *proxy.Proxy, method, path, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.Address()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func TestFates(t *testing.T) {
	for name, tc := range map[string]struct {
		fate     *proxy.Fate
		want     int
		wantRead int
		wantSent int32
	}{
		"none":                           {want: 201, wantRead: 200, wantSent: 1},
		"late":                           {fate: &proxy.Fate{Delay: time.Millisecond}, want: 201, wantRead: 200, wantSent: 1},
		"cut, and delivered late":        {fate: &proxy.Fate{Delay: time.Millisecond, Answer: proxy.Cut}, want: 0, wantRead: 200, wantSent: 1},
		"lost, and answered":             {fate: &proxy.Fate{Lost: true, Answer: proxy.Broken}, want: 500, wantRead: 200},
		"delivered and answered wrongly": {fate: &proxy.Fate{Answer: proxy.TimedOut}, want: 504, wantRead: 200, wantSent: 1},
		"delivered and unreadable": {
			fate: &proxy.Fate{Answer: proxy.Unavailable, Unreadable: time.Hour}, want: 503, wantRead: 503, wantSent: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var sent atomic.Int32
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == binding {
					sent.Add(1)
					w.WriteHeader(http.StatusCreated)
				}
			}))
			defer api.Close()
			p, err := proxy.Start(t.Context(), &rest.Config{Host: api.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := p.Stop(); err != nil {
					t.Error(err)
				}
			}()
			if tc.fate != nil {
				p.Decide(func() proxy.Fate { return *tc.fate })
			}
			if got := send(t, p, http.MethodPost, binding); got != tc.want {
				t.Errorf("answer %d, want %d", got, tc.want)
			}
			if got := send(t, p, http.MethodPatch, status); got != tc.wantRead {
				t.Errorf("answer %d to a change of the pod, want %d", got, tc.wantRead)
			}
			if p.Drain(); sent.Load() != tc.wantSent {
				t.Errorf("%d delivered, want %d", sent.Load(), tc.wantSent)
			}
			if p.CutOff(true); send(t, p, http.MethodPatch, status) != 0 {
				t.Error("an answer comes through")
			}
		})
	}
}

func TestConditionsAreWrittenJustBeforeABinding(t *testing.T) {
	var order []string // the proxy lets one request through at a time
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		order = append(order, path.Base(r.URL.Path))
	}))
	defer api.Close()
	p, err := proxy.Start(t.Context(), &rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	p.HoldConditions()
	p.Decide(func() proxy.Fate { return proxy.Fate{} })
	written := make(chan int)
	go func() { written <- sendBody(t, p, http.MethodPatch, status, `{"status":{"conditions":[]}}`) }()
	for p.Held() == 0 {
		send(t, p, http.MethodPost, binding)
	}
	if got := <-written; got != http.StatusOK {
		t.Errorf("answer %d to the write", got)
	}
	last := len(order) - 2
	if got := order[last:]; got[0] != "status" || got[1] != "binding" {
		t.Errorf("the API server saw %v last, want the status before the binding", got)
	}
	if n := len(order); send(t, p, http.MethodPatch, status) != http.StatusOK || len(order) != n+1 {
		t.Error("a write of something else is held back")
	}
}
