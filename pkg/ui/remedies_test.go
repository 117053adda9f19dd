// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/pkg/ui"
)

const waitingPage = "/ui/namespaces/shop/pods/waits"

// withRemedies serves the page of a pod that waits, with an answer to what would let it run.
func withRemedies(t *testing.T, find func(ctx context.Context, namespace, name string) (*ui.Remedies, error)) *world {
	t.Helper()
	w := newWorld(t)
	w.cluster("beijing", 1)
	w.pod("waits")
	w.prepare()
	clients := w.clients()
	clients.Remedies = find
	source, err := ui.NewSource(t.Context(), clients, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	w.serve(source)
	return w
}

func (w *world) untilSays(want string) {
	w.t.Helper()
	eventually(w.t, "the page says "+want, func() bool {
		_, body := w.get(waitingPage)
		return strings.Contains(body, want)
	})
}

func TestThePageOfAPodTellsWhatWouldLetItRun(t *testing.T) {
	var asked atomic.Int64
	going := make(chan struct{})
	w := withRemedies(t, func(ctx context.Context, namespace, name string) (*ui.Remedies, error) {
		asked.Add(1)
		select {
		case <-going:
		case <-ctx.Done():
		}
		return &ui.Remedies{
			Heading: "It would run now if", Says: []string{"Nothing that was tried helps in cluster hangzhou: <b>no</b>"},
			Rows: []ui.Remedy{{Cluster: "beijing", Node: "beijing-0", Change: name + " of " + namespace + " gets more"}},
		}, nil
	})
	w.untilSays("what would let it run now is being worked out")
	close(going)
	w.untilSays("Nothing that was tried helps in cluster hangzhou: &lt;b&gt;no&lt;/b&gt;")
	want := []string{"beijing", "beijing-0", "waits of shop gets more"}
	if rows := w.table(waitingPage, "remedies"); len(rows) != 1 || !slices.Equal(rows[0], want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was tried %d times while nothing changed", n)
	}

	if err := w.kubeClient.CoreV1().Nodes().Delete(t.Context(), "beijing-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is tried anew after a change", func() bool {
		w.get(waitingPage)
		return asked.Load() > 1
	})
}

func TestThePageOfAPodTellsWhyNothingIsTried(t *testing.T) {
	w := withRemedies(t, func(context.Context, string, string) (*ui.Remedies, error) {
		return nil, errors.New("listing pods: not allowed")
	})
	w.untilSays("what would let it run now cannot be worked out: listing pods: not allowed")
	withRemedies(t, nil).untilSays("what would let it run now is told by: berthctl explain pod waits --namespace shop")
}
