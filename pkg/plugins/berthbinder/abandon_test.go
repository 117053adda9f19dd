// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package berthbinder_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"berth.dev/berth/pkg/plugins/berthbinder"
)

// abandoned is given to pods that have lost their place as soon as it is asked for.
type abandoned struct {
	given
	abandon func()
}

func (*abandoned) Fenced() bool { return true }

func (a *abandoned) OnWay(_ *corev1.Pod, abandon func()) { a.abandon = abandon }

// overloaded refuses Bindings for a second, in which their pods lose their places. Of pods it knows
// one that has no node.
type overloaded struct {
	bindings int
	placed   *abandoned
}

func (o *overloaded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Request: request, Header: http.Header{"Content-Type": {"application/json"}}}
	body, err := json.Marshal(newPod())
	if request.Method == http.MethodPost {
		o.bindings++
		o.placed.abandon()
		answer.StatusCode = http.StatusTooManyRequests
		answer.Header.Set("Retry-After", "1")
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, err
}

// The client itself sends again what was answered with 429.
func TestABindingThatIsAbandonedIsNotSentAgain(t *testing.T) {
	server := &overloaded{placed: &abandoned{}}
	client, err := kubernetes.NewForConfig(&rest.Config{
		Transport: server, ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	handle, err := frameworkruntime.NewFramework(t.Context(), nil, nil, frameworkruntime.WithClientSet(client))
	if err != nil {
		t.Fatal(err)
	}
	status := berthbinder.New(handle, server.placed, open(), berthbinder.NewSlots()).Bind(t.Context(), nil, newPod(), node)
	if status.IsSuccess() || server.bindings != 1 {
		t.Errorf("Bind says %v after %d Bindings, want an error after one", status, server.bindings)
	}
}
