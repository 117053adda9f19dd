// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package processes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheWaitsForLocksAreRead(t *testing.T) {
	const profile = `--- contention:
cycles/second=2000000000
4000000 2 @ 0x1 0x2 0x3
#	0x1	sync.(*Mutex).Lock+0x1	/go/src/sync/mutex.go:46
#	0x2	berth.dev/berth/pkg/fence.(*Fence).Holds+0x2	/src/pkg/fence/fence.go:2
#	0x3	berth.dev/berth/pkg/plugins.other+0x2	/src/pkg/plugins/other.go:2

2000000 1 @ 0x1 0x2
#	0x1	sync.(*RWMutex).RLock+0x1	/go/src/sync/rwmutex.go:46
#	0x2	berth.dev/berth/pkg/fence.(*Fence).Holds+0x9	/src/pkg/fence/fence.go:9

6000000 1 @ 0x1 0x2
#	0x1	sync.(*Mutex).Lock+0x1	/go/src/sync/mutex.go:46
#	0x2	k8s.io/kubernetes/pkg/scheduler.theirs+0x2	/src/theirs.go:2

8000000 1 @ 0x1
#	0x1	berth.dev/berth/pkg/plugins.waits+0x1	/src/channel.go:1
`
	got, err := parseWaits(strings.NewReader(profile))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]time.Duration{"pkg/fence.(*Fence).Holds": 3 * time.Millisecond}, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestAProfileThatCannotBeReadIsRefused(t *testing.T) {
	for name, profile := range map[string]string{
		"no rate": "1 1 @ 0x1", "a rate of nothing": "cycles/second=0", "no cycles": "cycles/second=1\nx 1 @ 0x1",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseWaits(strings.NewReader(profile)); err == nil {
				t.Errorf("waits %v, want an error", got)
			}
		})
	}
}
