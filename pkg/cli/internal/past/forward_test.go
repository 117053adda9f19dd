// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package past_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/apimachinery/pkg/util/httpstream/spdy"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
)

// forward leads the data streams of a request to a port of this machine, as a kubelet leads them to
// that of a pod.
func forward(t *testing.T, w http.ResponseWriter, r *http.Request) {
	t.Helper()
	streams := make(chan httpstream.Stream, 8)
	w.Header().Set(httpstream.HeaderProtocolVersion, "portforward.k8s.io")
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if connection == nil {
		t.Error("the connection was not upgraded")
		return
	}
	defer connection.Close()
	for {
		select {
		case <-connection.CloseChan():
			return
		case stream := <-streams:
			if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				go lead(t, stream, "127.0.0.1:"+stream.Headers().Get(corev1.PortHeader))
			} else {
				stream.Close() // no error
			}
		}
	}
}

// lead copies what is sent and answered.
func lead(t *testing.T, stream httpstream.Stream, address string) {
	t.Helper()
	defer stream.Close()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer connection.Close()
	go func() {
		_, _ = io.Copy(connection, stream)
		connection.Close()
	}()
	_, _ = io.Copy(stream, connection)
}

// apiServer is an API server of which nothing works but to list one pod, and to forward its ports
// for those with the right to.
func apiServer(t *testing.T, pod *corev1.Pod, allowed bool) *httptest.Server {
	t.Helper()
	pods := "/api/v1/namespaces/" + berthv1alpha1.SystemNamespace + "/pods"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pods, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod}})
	})
	mux.HandleFunc("POST "+pods+"/"+pod.Name+"/portforward", func(w http.ResponseWriter, r *http.Request) {
		if !allowed || r.Header.Get("Authorization") != "Bearer secret" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"you may not","code":403}`)
			return
		}
		forward(t, w, r)
	})
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestAskThroughAForwardedPort(t *testing.T) {
	program := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != serve.Path || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "not you", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"process":"whoever","since":"2026-03-01T12:00:00Z","entries":[{"decision":"Placed","about":{"kind":"Pod","name":"a"}}]}`)
	}))
	t.Cleanup(program.Close)
	address, err := url.Parse(program.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		allowed   bool
		want      int
		wantError string
	}{
		"with the right to":    {allowed: true, want: 1},
		"without the right to": {wantError: "which takes the right to create pods/portforward"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: berthv1alpha1.SystemNamespace, Name: "berth-scheduler-0"},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"--" + serve.Flag + "=127.0.0.1:" + address.Port()}}}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning},
			}
			server := apiServer(t, pod, test.allowed)
			config := &rest.Config{Host: server.URL, BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
			kube, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			clients := client.Clients{Config: config, Kubernetes: kube}
			answers, err := sources(t, "--history").Ask(t.Context(), clients, history.Object{Kind: "Pod", Namespace: "shop", Name: "a"})
			if err != nil || len(answers) != 1 {
				t.Fatalf("%d answers, error %v; want one", len(answers), err)
			}
			checkRefusal(t, answers[0].Error, test.wantError)
			if len(answers[0].Entries) != test.want || answers[0].Process != "berth-scheduler-0" {
				t.Errorf("answer %+v, want %d entries of berth-scheduler-0", answers[0], test.want)
			}
		})
	}
}
