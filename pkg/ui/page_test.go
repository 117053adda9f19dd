// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"bufio"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

const script = `<script>alert("x")</script>`

func TestAScriptStaysText(t *testing.T) {
	w := newWorld(t)
	c := w.cluster("beijing", 1)
	c.Spec.GeoLocation = &berthv1alpha1.GeoLocation{City: script}
	c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "X", Message: script + strings.Repeat("m", 100_000)}}
	says(w.pod("a"), script)
	for _, path := range []string{"/ui/sites", "/ui/clusters/beijing", "/ui/waiting", "/ui/namespaces/shop/pods/a", "/ui/sites?q=" + "%3Cscript%3E"} {
		response, body := w.get(path)
		for _, n := range findAll(parse(t, body), "script") {
			if attribute(n, "src") != "/ui/assets/page.js" || textOf(n) != "" {
				t.Errorf("GET %s: a script of somebody else", path)
			}
		}
		if len(body) > 50_000 {
			t.Errorf("GET %s: %d bytes", path, len(body))
		}
		policy := response.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("GET %s: policy %q", path, policy)
		}
	}
	if _, body := w.get("/ui/sites"); !strings.Contains(body, "&lt;script&gt;") {
		t.Error("the text of the label is not shown")
	}
}

// TestThePageIsAccessible holds all pages to rules that a program can check: what has to have a
// name has one, headings and tables are marked as such, and ids are there once.
func TestThePageIsAccessible(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.licences("matlab")
	says(w.deployment("nginx", 2, map[string]int64{"beijing": 1})("a"), "no node")
	for _, path := range []string{
		"/ui/", "/ui/pools", "/ui/applications", "/ui/waiting", "/ui/clusters/beijing", "/ui/resources/matlab", "/ui/namespaces/shop/pods/a",
		"/ui/namespaces/shop/workloads/deployment/nginx", "/ui/health", "/ui/nothing",
	} {
		_, body := w.get(path)
		for _, fault := range inaccessible(parse(t, body)) {
			t.Errorf("GET %s: %s", path, fault)
		}
	}
}

// TestNoLinkLeadsNowhere follows the links of all pages, also of those of pods that no policy
// places.
func TestNoLinkLeadsNowhere(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.licences("matlab")
	places := w.deployment("nginx", 2, map[string]int64{"beijing": 1})
	place(places("a"), "beijing-0", "nginx", "beijing", 0)
	says(places("b"), "no node")
	free := w.deployment("free", 1, nil)
	w.berth = w.berth[:len(w.berth)-1] // its policy
	says(free("c"), "no node")
	seen, next := map[string]bool{"/ui/": true}, []string{"/ui/"}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		response, body := w.get(path)
		if response.StatusCode != http.StatusOK {
			t.Errorf("GET %s: status %d", path, response.StatusCode)
			continue
		}
		for _, link := range findAll(parse(t, body), "a") {
			to := attribute(link, "href")
			if strings.HasPrefix(to, "/ui/") && !seen[to] {
				seen[to], next = true, append(next, to)
			}
		}
	}
	if !seen["/ui/namespaces/shop/pods/c"] {
		t.Error("no page leads to the pod without a policy")
	}
}

func TestChangesAreTold(t *testing.T) {
	w := newWorld(t)
	c := w.cluster("beijing", 1)
	w.start()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/ui/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.server.Client().Do(request) //nolint:bodyclose // it is closed two lines below
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var told atomic.Int64
	go func() {
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				told.Add(1)
			}
		}
	}()
	eventually(t, "the first event", func() bool { return told.Load() > 0 })
	if rows := w.table("/ui/sites", "sites"); len(rows) != 1 || rows[0][1] != "unknown" {
		t.Fatalf("sites %q", rows)
	}
	before := told.Load()
	c = c.DeepCopy()
	c.Spec.Unschedulable = true
	if _, err := w.berthClient.BerthV1alpha1().Clusters().Update(t.Context(), c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another event", func() bool { return told.Load() > before })
	eventually(t, "the change on the page", func() bool { return w.table("/ui/sites", "sites")[0][1] == "cordoned" })
}

func TestWhatMayNotBeReadIsLeftOutAndNamed(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.cluster("hangzhou", 1)
	place(w.deployment("nginx", 2, map[string]int64{"beijing": 1})("a"), "beijing-0", "nginx", "beijing", 0)
	w.prepare()
	w.refuse("pods")
	rows := w.table("/ui/sites", "sites")
	if len(rows) != 2 || rows[0][0] != "beijing" || rows[0][5] != "-" {
		t.Errorf("sites %q", rows)
	}
	if _, body := w.get("/ui/sites"); !strings.Contains(body, "Without pods (you have no right to list and watch)") {
		t.Errorf("nothing is said of pods in %s", body)
	}
}

func TestOutdatedFiguresAreShownAsSuch(t *testing.T) {
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.prepare()
	var away atomic.Bool
	open := make(chan *watch.FakeWatcher, 1)
	w.berthClient.PrependWatchReactor("clusters", func(clienttesting.Action) (bool, watch.Interface, error) {
		if away.Load() {
			return true, nil, errors.New("connection refused")
		}
		watcher := watch.NewFake()
		select {
		case open <- watcher:
		default:
		}
		return true, watcher, nil
	})
	if _, body := w.get("/ui/sites"); strings.Contains(body, "Outdated") {
		t.Error("outdated from the beginning")
	}
	watcher := <-open
	away.Store(true)
	watcher.Stop()
	eventually(t, "the page says that it is outdated", func() bool {
		_, body := w.get("/ui/sites")
		return strings.Contains(body, "Outdated: the API server does not answer since") && strings.Contains(body, "beijing")
	})
	away.Store(false)
	eventually(t, "the page is up to date again", func() bool {
		_, body := w.get("/ui/sites")
		return !strings.Contains(body, "Outdated")
	})
}

func TestOnlyReading(t *testing.T) {
	w := newWorld(t)
	w.start()
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		request, err := http.NewRequestWithContext(t.Context(), method, w.server.URL+"/ui/sites", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := w.server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: status %d", method, response.StatusCode)
		}
	}
	for _, action := range w.kubeClient.Actions() {
		if verb := action.GetVerb(); verb != "list" && verb != "watch" {
			t.Errorf("the pages %s %s", verb, action.GetResource().Resource)
		}
	}
}

func TestAThousandSites(t *testing.T) {
	w := newWorld(t)
	for i := range 1000 {
		w.cluster("site-"+resource.NewQuantity(int64(i), resource.DecimalSI).String(), 1)
	}
	if rows := w.table("/ui/sites?sort=-sites.site", "sites"); len(rows) != 1000 {
		t.Errorf("%d rows", len(rows))
	}
}
