// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cyclestate_test

import (
	"strings"
	"testing"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/plugins/internal/cyclestate"
)

type number struct{ value int }

func (n *number) Clone() fwk.StateData { return &number{n.value} }

type other struct{}

func (o *other) Clone() fwk.StateData { return o }

func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		written fwk.StateData
		want    int
	}{
		"what was written": {&number{7}, 7},
		"nothing":          {nil, 0},
		"of another type":  {&other{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cycle := framework.NewCycleState()
			cycle.Write("another key", &number{9})
			if test.written != nil {
				cycle.Write("key", test.written)
			}
			got := cyclestate.Read[*number](cycle, "key")
			if test.want == 0 && got != nil || test.want != 0 && (got == nil || got.value != test.want) {
				t.Errorf("the state is %+v, want %d", got, test.want)
			}
		})
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	cycle := framework.NewCycleState()
	cycle.Write("key", &number{7})
	if got := testing.AllocsPerRun(100, func() { cyclestate.Read[*number](cycle, "key") }); got != 0 {
		t.Errorf("Read allocates %v times", got)
	}
}

func TestMissing(t *testing.T) {
	got := cyclestate.Missing("PreFilterPlugin")
	if got.Code() != fwk.Error || !strings.Contains(got.Message(), `"PreFilterPlugin"`) {
		t.Errorf("the status is %v %q, want an error that names the key", got.Code(), got.Message())
	}
}
