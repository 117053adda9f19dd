// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"berth.dev/berth/test/simulation/apiserver"
)

// ask sends a request as a client does. A patch is a merge patch.
func ask(t *testing.T, s *apiserver.Server, method, path, body string) apiserver.Answer {
	t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	return askWith(t, s, method, path, contentType, body)
}

func askWith(t *testing.T, s *apiserver.Server, method, path, contentType, body string) apiserver.Answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	request, err := apiserver.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	return s.Serve(request)
}

const (
	podsPath = "/api/v1/namespaces/default/pods"
	podBody  = `{"metadata":{"name":"a","labels":{"app":"x"}},"spec":{"containers":[]}}`
)

// withPod returns a server with a pod of the name a.
func withPod(t *testing.T) *apiserver.Server {
	t.Helper()
	s, err := apiserver.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer := ask(t, s, http.MethodPost, podsPath, podBody); answer.Code != http.StatusCreated {
		t.Fatalf("creating the pod: %s", answer.Body)
	}
	return s
}

func field(t *testing.T, body []byte, path ...string) any {
	t.Helper()
	var at any
	if err := json.Unmarshal(body, &at); err != nil {
		t.Fatal(err)
	}
	for _, step := range path {
		object, _ := at.(map[string]any)
		at = object[step]
	}
	return at
}

func TestPreconditions(t *testing.T) {
	for name, test := range map[string]struct {
		method, path, body string
		want               int
	}{
		"a name that is taken":            {http.MethodPost, podsPath, podBody, http.StatusConflict},
		"a version that is old":           {http.MethodPatch, podsPath + "/a", `{"metadata":{"resourceVersion":"1"}}`, http.StatusConflict},
		"the UID of another":              {http.MethodPatch, podsPath + "/a", `{"metadata":{"uid":"other"}}`, http.StatusConflict},
		"what is not there":               {http.MethodGet, podsPath + "/b", "", http.StatusNotFound},
		"a kind that is not served":       {http.MethodGet, "/apis/example.com/v1/things", "", http.StatusNotFound},
		"no JSON":                         {http.MethodPost, podsPath, "{", http.StatusBadRequest},
		"a Binding":                       {http.MethodPost, podsPath + "/a/binding", `{"target":{"name":"n"}}`, http.StatusCreated},
		"a Binding of another pod":        {http.MethodPost, podsPath + "/a/binding", `{"metadata":{"uid":"other"}}`, http.StatusConflict},
		"a Binding of an old version":     {http.MethodPost, podsPath + "/a/binding", `{"metadata":{"resourceVersion":"1"}}`, http.StatusConflict},
		"an eviction of another pod":      {http.MethodPost, podsPath + "/a/eviction", `{"deleteOptions":{"preconditions":{"uid":"other"}}}`, http.StatusConflict},
		"an eviction":                     {http.MethodPost, podsPath + "/a/eviction", `{}`, http.StatusCreated},
		"a deletion":                      {http.MethodDelete, podsPath + "/a", "", http.StatusOK},
		"a deletion of a certain version": {http.MethodDelete, podsPath + "/a", `{"preconditions":{"resourceVersion":"1"}}`, http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			if answer := ask(t, withPod(t), test.method, test.path, test.body); answer.Code != test.want {
				t.Errorf("%d, want %d: %s", answer.Code, test.want, answer.Body)
			}
		})
	}
}

func TestABindingWritesNodeAndAnnotationsOnce(t *testing.T) {
	s := withPod(t)
	first := `{"metadata":{"annotations":{"k":"v"}},"target":{"name":"n"}}`
	if answer := ask(t, s, http.MethodPost, podsPath+"/a/binding", first); answer.Code != http.StatusCreated {
		t.Fatalf("%s", answer.Body)
	}
	pod := ask(t, s, http.MethodGet, podsPath+"/a", "").Body
	if field(t, pod, "spec", "nodeName") != "n" || field(t, pod, "metadata", "annotations", "k") != "v" {
		t.Errorf("the pod is %s", pod)
	}
	if answer := ask(t, s, http.MethodPost, podsPath+"/a/binding", first); answer.Code != http.StatusConflict {
		t.Errorf("bound twice: %d", answer.Code)
	}
}

func TestAWriteThatChangesNothingHasNoRevision(t *testing.T) {
	s := withPod(t)
	before := s.Revision()
	ask(t, s, http.MethodPatch, podsPath+"/a", `{"metadata":{"labels":{"app":"x"}}}`)
	if s.Revision() != before {
		t.Errorf("revision %d, want %d", s.Revision(), before)
	}
	ask(t, s, http.MethodPatch, podsPath+"/a/status", `{"status":{"phase":"Running"},"spec":{"nodeName":"n"}}`)
	pod := ask(t, s, http.MethodGet, podsPath+"/a", "").Body
	if field(t, pod, "status", "phase") != "Running" || field(t, pod, "spec", "nodeName") != nil {
		t.Errorf("a write of the status makes the pod %s", pod)
	}
}

func TestWatchesFollowSelectors(t *testing.T) {
	s := withPod(t)
	answer := ask(t, s, http.MethodGet, "/api/v1/pods?watch=true&resourceVersion=2&labelSelector=app%3Dx&allowWatchBookmarks=true", "")
	if answer.Watch == nil {
		t.Fatalf("%s", answer.Body)
	}
	if frame := answer.Watch.Next(); frame != nil {
		t.Errorf("news: %s", frame)
	}
	ask(t, s, http.MethodPatch, podsPath+"/a", `{"metadata":{"annotations":{"k":"v"}}}`)
	ask(t, s, http.MethodPatch, podsPath+"/a", `{"metadata":{"labels":{"app":"y"}}}`)
	for _, want := range []string{"MODIFIED", "DELETED"} {
		if frame := answer.Watch.Next(); !strings.Contains(string(frame), `"type":"`+want) {
			t.Errorf("%s, want %s", frame, want)
		}
	}
	ask(t, s, http.MethodPost, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"}}`)
	if frame := string(answer.Watch.Bookmark()); !strings.Contains(frame, "BOOKMARK") || !strings.Contains(frame, `"resourceVersion":"5"`) {
		t.Errorf("the bookmark is %s", frame)
	}
	s.Compact()
	if answer := ask(t, s, http.MethodGet, "/api/v1/pods?watch=true&resourceVersion=2", ""); answer.Code != http.StatusGone {
		t.Errorf("a watch from before is answered with %d", answer.Code)
	}
}

func TestApply(t *testing.T) {
	for name, test := range map[string]struct {
		object, body string
		wantCode     int
		wantLabels   any
	}{
		"what is not there":            {"b", `{"metadata":{"name":"b","labels":{"of":"me"}}}`, http.StatusCreated, map[string]any{"of": "me"}},
		"what was there and is gone":   {"b", `{"metadata":{"name":"b","uid":"u"}}`, http.StatusConflict, nil},
		"what is there":                {"a", `{"metadata":{"name":"a","labels":{"of":"me"}}}`, http.StatusOK, map[string]any{"app": "x", "of": "me"}},
		"another one of this name":     {"a", `{"metadata":{"name":"a","uid":"u"}}`, http.StatusConflict, nil},
		"one that has changed already": {"a", `{"metadata":{"name":"a","resourceVersion":"1"}}`, http.StatusConflict, nil},
	} {
		t.Run(name, func(t *testing.T) {
			answer := askWith(t, withPod(t), http.MethodPatch, podsPath+"/"+test.object+"?fieldManager=me", "application/apply-patch+yaml", test.body)
			if answer.Code != test.wantCode {
				t.Fatalf("the answer is %d, want %d: %s", answer.Code, test.wantCode, answer.Body)
			}
			if got := field(t, answer.Body, "metadata", "labels"); !reflect.DeepEqual(got, test.wantLabels) {
				t.Errorf("the labels are %v, want %v", got, test.wantLabels)
			}
		})
	}
}
