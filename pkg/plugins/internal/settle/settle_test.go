// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package settle_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/pkg/plugins/internal/ledger"
	"berth.dev/berth/pkg/plugins/internal/settle"
)

var ref = ledger.PodRef{Namespace: "default", Name: "web", UID: "own"}

func copyOf(uid types.UID, version, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: uid, ResourceVersion: version},
		Spec:       corev1.PodSpec{NodeName: node},
	}
}

// server answers, and notes what it is asked.
type server struct {
	known *corev1.Pod
	// patch and get are the answers, found what is read.
	patch, get error
	found      types.UID
	asked      []string
	before     func()
}

func (s *server) settler() *settle.Settler {
	client := kubefake.NewClientset()
	client.PrependReactor("*", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		s.asked = append(s.asked, action.GetVerb())
		if s.before != nil {
			s.before()
		}
		if action.GetVerb() == "patch" {
			return true, copyOf("own", "9", "answered"), s.patch
		}
		return true, copyOf(s.found, "9", "read"), s.get
	})
	return &settle.Settler{Client: client, Known: func(string, string) *corev1.Pod { return s.known }}
}

var (
	pods     = corev1.Resource("pods")
	gone     = apierrors.NewNotFound(pods, "web")
	conflict = apierrors.NewConflict(pods, "web", errors.New("another UID"))
	invalid  = apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "web", nil)
	broken   = apierrors.NewInternalError(errors.New("no"))
)

// TestOneAttempt settles a Binding that carries version 5 of a pod.
func TestOneAttempt(t *testing.T) {
	const patched, read = "patch", "patch get"
	for name, tc := range map[string]struct {
		server
		// wantNode is that of the pod that is returned, empty for none or one without a node.
		wantNode    string
		wantCertain bool
		wantAsked   string
	}{
		"the informer has it on a node":               {server{known: copyOf("own", "5", "n")}, "n", true, ""},
		"the informer has it as it was":               {server{known: copyOf("own", "5", "")}, "answered", true, patched},
		"the informer has it as it was before":        {server{known: copyOf("own", "4", "")}, "answered", true, patched},
		"the informer has it newer":                   {server{known: copyOf("own", "6", "")}, "", true, ""},
		"the informer has it in no order":             {server{known: copyOf("own", "x", "")}, "answered", true, patched},
		"the informer has an older one of its name":   {server{known: copyOf("other", "4", "n")}, "answered", true, patched},
		"the informer has a newer one of its name":    {server{known: copyOf("other", "6", "")}, "", true, ""},
		"the informer has none":                       {server{}, "answered", true, patched},
		"it is gone":                                  {server{patch: gone}, "", true, patched},
		"nobody knows":                                {server{patch: broken}, "", false, patched},
		"the write is refused, and it is there":       {server{patch: conflict, found: "own"}, "", false, read},
		"the write is refused for another one":        {server{patch: conflict, found: "other"}, "", true, read},
		"the write is invalid for another one":        {server{patch: invalid, found: "other"}, "", true, read},
		"the write is refused, and then it is gone":   {server{patch: conflict, get: gone}, "", true, read},
		"the write is refused, and then nobody knows": {server{patch: conflict, get: broken}, "", false, read},
	} {
		t.Run(name, func(t *testing.T) {
			pod, certain := tc.settler().Try(t.Context(), ref, "5")
			node := ""
			if pod != nil {
				node = pod.Spec.NodeName
			}
			if node != tc.wantNode || certain != tc.wantCertain || strings.Join(tc.asked, " ") != tc.wantAsked {
				t.Errorf("on %q, certain: %t, asked %v; want %q, %t, %s", node, certain, tc.asked, tc.wantNode, tc.wantCertain, tc.wantAsked)
			}
		})
	}
}

// slow returns a server that takes three seconds for each request, and has no answer to the first.
func slow(silent int) *server {
	s := &server{patch: broken}
	s.before = func() {
		time.Sleep(3 * time.Second) //nolint:forbidigo // the time of the test is not the real one
		if len(s.asked) > silent {
			s.patch = nil
		}
	}
	return s
}

// TestItIsTriedUntilThereIsAnAnswer has an API server that takes three seconds for each of its
// answers, of which some are none.
func TestItIsTriedUntilThereIsAnAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		silent int
		ends   time.Duration
		// answers is how long the answers take, and pauses how long it waits between them.
		answers, pauses time.Duration
		wantErr         string
	}{
		"at once":                {0, time.Hour, 3 * time.Second, 0, ""},
		"after a pause":          {1, time.Hour, 6 * time.Second, 100 * time.Millisecond, ""},
		"after two, one longer":  {2, time.Hour, 9 * time.Second, 300 * time.Millisecond, ""},
		"until the process ends": {1000, time.Minute, 0, 0, "settling the bindings of pod default/web: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := slow(tc.silent)
				ctx, end := context.WithTimeout(t.Context(), tc.ends)
				defer end()
				began := time.Now()
				pod, err := s.settler().Pod(ctx, ref, "5")
				took := time.Since(began)
				if paused := took - tc.answers; tc.wantErr == "" && (paused < tc.pauses || paused > tc.pauses*11/10) {
					t.Errorf("it paused for %v, want %v and a tenth at most", paused, tc.pauses)
				}
				if tc.wantErr == "" && (err != nil || pod == nil) || tc.wantErr != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.wantErr)) {
					t.Errorf("the pod is %v, the error %v, want %q", pod, err, tc.wantErr)
				}
				if !slices.Contains(s.asked, "patch") {
					t.Error("nothing was written")
				}
			})
		})
	}
}
