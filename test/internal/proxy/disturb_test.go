// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"berth.dev/berth/test/internal/proxy"
)

const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l"

// counting starts an API server that counts what comes, and a proxy before it.
func counting(t *testing.T) (*proxy.Proxy, *atomic.Int32) {
	t.Helper()
	came := &atomic.Int32{}
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	t.Cleanup(api.Close)
	p, err := proxy.Start(t.Context(), &rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p, came
}

func TestDisturb(t *testing.T) {
	for name, tc := range map[string]struct {
		method, path string
		fate         proxy.Fate
		want         int
		wantCame     int32
	}{
		"none":                           {method: http.MethodPut, path: lease, want: 200, wantCame: 1},
		"a write refused":                {method: http.MethodPut, path: lease, fate: proxy.Fate{Lost: true, Answer: proxy.Unavailable}, want: 503},
		"a write refused after the fact": {method: http.MethodPut, path: lease, fate: proxy.Fate{Answer: proxy.Broken}, want: 500, wantCame: 1},
		"a write that is late":           {method: http.MethodPut, path: lease, fate: proxy.Fate{Delay: time.Millisecond}, want: 200, wantCame: 1},
		"a Binding refused":              {method: http.MethodPost, path: binding, fate: proxy.Fate{Lost: true, Answer: proxy.TimedOut}, want: 504},
		"a read refused":                 {method: http.MethodGet, path: lease, fate: proxy.Fate{Answer: proxy.Broken}, want: 500},
		"a read that is late":            {method: http.MethodGet, path: lease, fate: proxy.Fate{Delay: time.Millisecond}, want: 200, wantCame: 1},
		"a watch":                        {method: http.MethodGet, path: lease + "?watch=true", fate: proxy.Fate{Answer: proxy.Broken}, want: 200, wantCame: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, came := counting(t)
			p.Disturb(func(*http.Request) proxy.Fate { return tc.fate })
			if got := send(t, p, tc.method, tc.path); got != tc.want {
				t.Errorf("the answer is %d, want %d", got, tc.want)
			}
			p.Drain()
			if got := came.Load(); got != tc.wantCame {
				t.Errorf("%d requests came, want %d", got, tc.wantCame)
			}
			p.Disturb(nil)
			if got := send(t, p, tc.method, tc.path); got != http.StatusOK {
				t.Errorf("afterwards the answer is %d", got)
			}
		})
	}
}

// A request that nobody will ever answer must not outlast the disturbance: nothing else would end
// it.
func TestWhatIsLostIsCutAtTheEnd(t *testing.T) {
	p, came := counting(t)
	lost := make(chan struct{})
	p.Disturb(func(*http.Request) proxy.Fate {
		close(lost)
		return proxy.Fate{Lost: true}
	})
	answer := make(chan int, 1)
	go func() { answer <- send(t, p, http.MethodPost, lease) }() // a client sends that once only
	<-lost
	p.Disturb(nil)
	select {
	case got := <-answer:
		if got != 0 || came.Load() != 0 {
			t.Errorf("the answer is %d, and %d requests came", got, came.Load())
		}
	case <-time.After(time.Minute):
		t.Error("there is no answer")
	}
}

func TestWhatIsStalledGoesOn(t *testing.T) {
	p, came := counting(t)
	p.Stall(true)
	answer := make(chan int, 1)
	go func() { answer <- send(t, p, http.MethodPut, lease) }()
	select {
	case got := <-answer:
		t.Fatalf("the answer is %d while everything is stalled", got)
	case <-time.After(20 * time.Millisecond): // nothing tells that nothing comes
	}
	if got := came.Load(); got != 0 {
		t.Errorf("%d requests came while everything was stalled", got)
	}
	p.Stall(false)
	if got := <-answer; got != http.StatusOK {
		t.Errorf("the answer is %d", got)
	}
}

func TestSeverEndsConnections(t *testing.T) {
	p, _ := counting(t)
	p.Stall(true)
	answer := make(chan int, 1)
	go func() { answer <- send(t, p, http.MethodPost, lease) }()
	for ended := false; !ended; {
		p.Sever()
		select {
		case got := <-answer:
			if got != 0 {
				t.Errorf("the answer is %d", got)
			}
			ended = true
		case <-time.After(time.Millisecond):
		}
	}
	p.Stall(false)
	if got := send(t, p, http.MethodPut, lease); got != http.StatusOK {
		t.Errorf("afterwards the answer is %d", got)
	}
}
