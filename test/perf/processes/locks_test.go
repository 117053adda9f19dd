// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// waited returns the profile of what was waited for, each with the functions from the innermost on.
func waited(t *testing.T, unit string, delays map[time.Duration][]string) []byte {
	t.Helper()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: unit}}}
	for delay, names := range delays {
		sample := &profile.Sample{Value: []int64{1, int64(delay)}}
		for _, name := range names {
			id := uint64(len(p.Function) + 1)
			p.Function = append(p.Function, &profile.Function{ID: id, Name: name})
			p.Location = append(p.Location, &profile.Location{ID: id, Line: []profile.Line{{Function: p.Function[id-1]}}})
			sample.Location = append(sample.Location, p.Location[id-1])
		}
		p.Sample = append(p.Sample, sample)
	}
	var data bytes.Buffer
	if err := p.Write(&data); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func TestTheWaitsForLocksAreRead(t *testing.T) {
	const holds = "berth.dev/berth/pkg/fence.(*Fence).Holds"
	got, err := waitsIn(waited(t, "nanoseconds", map[time.Duration][]string{
		1 * time.Millisecond: {"sync.(*Mutex).Lock", holds, "berth.dev/berth/pkg/plugins.other"},
		2 * time.Millisecond: {"sync.(*RWMutex).RLock", holds},
		3 * time.Millisecond: {"sync.(*Mutex).Lock", "k8s.io/kubernetes/pkg/scheduler.theirs"},
		4 * time.Millisecond: {"runtime.chanrecv1", "berth.dev/berth/pkg/plugins.waits"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]time.Duration{"pkg/fence.(*Fence).Holds": 3 * time.Millisecond}, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestAProfileThatCannotBeReadIsRefused(t *testing.T) {
	for name, data := range map[string][]byte{"no profile": []byte("1 1 @ 0x1"), "no time": waited(t, "bytes", nil)} {
		t.Run(name, func(t *testing.T) {
			if got, err := waitsIn(data); err == nil {
				t.Errorf("waits %v, want an error", got)
			}
		})
	}
}
