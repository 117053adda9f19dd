// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/flowcontrol"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/controllers/policy"
	"berth.dev/berth/pkg/model/stamp"
)

// server is an API server whose answers take a while. The passes after a write see it.
type server struct {
	*memory
	takes time.Duration
	// limit is that of the client.
	limit   flowcontrol.RateLimiter
	writing sync.Mutex
	written map[string]map[string]string
}

func (s *server) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	s.limit.Accept()
	<-time.After(s.takes)
	s.patches.Add(1)
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	change := &corev1.Pod{}
	if err := json.Unmarshal(data, change); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.written[o.GetName()] = change.Annotations
	return nil
}

// watch brings what was written to the cache. It returns how many pods have no stamp yet.
func (s *server) watch() (missing int) {
	s.pods = slices.Clone(s.pods)
	for i := range s.pods {
		if annotations, found := s.written[s.pods[i].Name]; found {
			s.pods[i].Annotations = annotations
		}
		if _, stamped := stamp.Of(&s.pods[i]); !stamped {
			missing++
		}
	}
	return missing
}

// TestTwoThousandPodsAreTakenOverInFiveSeconds takes them over with the limits that are shipped,
// from an API server that needs so long for each write. What the passes compute is not counted.
func TestTwoThousandPodsAreTakenOverInFiveSeconds(t *testing.T) {
	for _, takes := range []time.Duration{5 * time.Millisecond, 60 * time.Millisecond} {
		t.Run(takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{
					memory: newMemory(1, 2_000), takes: takes, written: map[string]map[string]string{},
					limit: flowcontrol.NewTokenBucketRateLimiter(policy.StampsPerSecond, policy.StampsAtOnce),
				}
				for i := range s.pods {
					s.pods[i].Annotations = nil
				}
				r := benchReconciler(s.memory)
				r.Stamps, r.Restamps = s, flowcontrol.NewTokenBucketRateLimiter(policy.StampsPerSecond, policy.StampsAtOnce)
				began := time.Now()
				for missing, passes := 2_000, 1; missing > 0; passes++ {
					result, err := r.Reconcile(t.Context(), namespace)
					if err != nil {
						t.Fatal(err)
					}
					missing = s.watch()
					t.Logf("after %v and %d passes %d are missing", time.Since(began), passes, missing)
					if missing > 0 {
						<-time.After(result.RequeueAfter)
					}
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("it takes %v, want at most 5 s", took)
				}
				if got := s.patches.Load(); got != 2_000 {
					t.Errorf("%d writes, want one for each pod", got)
				}
			})
		})
	}
}
