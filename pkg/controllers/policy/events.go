// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/placement/names"
	"berth.dev/berth/pkg/placement/rebalance"
)

// Reasons and action of the events about policies.
const (
	reasonRebalancing     = "Rebalancing"
	reasonEvictionRefused = "EvictionRefused"
	reasonHeldBack        = "RebalanceHeldBack"

	actionEvict = "Evict"
)

// maxNote bounds the text of an event; the API server allows 1024 bytes.
const maxNote = 1000

// worthAnEvent are the reasons that a user may want to do something about. The others pass by
// themselves, or are what the user asked for.
var worthAnEvent = []rebalance.Reason{
	rebalance.ClustersNotReady, rebalance.NoRoom, rebalance.PodsUnreachable, rebalance.PodsProtected, rebalance.PodsNotOurs,
}

// moves counts what one round of a workload did.
type moves struct {
	ways    map[string]int
	refused *corev1.Pod
	err     error
}

func (m *moves) add(in *inForce, placed *placement, victim rebalance.Victim) {
	from := "elsewhere"
	if c := placed.Shares.Pods[victim.Pod].Cluster; c != rebalance.Elsewhere {
		from = in.Order.Name(c)
	}
	if m.ways == nil {
		m.ways = map[string]int{}
	}
	m.ways[from+" to "+in.Order.Name(victim.To)]++
}

// recordMoves records what a round did, in one event for the workload, and the first of several
// refusals.
func (p *pass) recordMoves(in *inForce, placed *placement, m *moves) {
	if len(m.ways) > 0 {
		ways := make([]string, 0, len(m.ways))
		for way, n := range m.ways {
			ways = append(ways, fmt.Sprintf("%d from %s", n, way))
		}
		slices.Sort(ways)
		p.event(in, corev1.EventTypeNormal, reasonRebalancing,
			fmt.Sprintf("Moving pods of %s: %s", name(placed.Observed), names.First(ways, maxNames, ", ")))
	}
	if m.refused != nil && placed.note.held != rebalance.PodsRefused {
		placed.note.held = rebalance.PodsRefused
		p.event(in, corev1.EventTypeWarning, reasonEvictionRefused,
			fmt.Sprintf("Pod %s of %s cannot be moved: %v", m.refused.Name, name(placed.Observed), m.err))
	}
}

// recordHeld records why misplaced pods stay, once for each reason.
func (p *pass) recordHeld(in *inForce, placed *placement) {
	held := placed.decision.Held
	if !slices.Contains(worthAnEvent, held) {
		if placed.Misplaced == 0 {
			placed.note.held = ""
		}
		return
	}
	if held == placed.note.held {
		return
	}
	placed.note.held = held
	p.event(in, corev1.EventTypeWarning, reasonHeldBack,
		fmt.Sprintf("Pods of %s run outside their share and stay: %s", name(placed.Observed), held))
}

func (p *pass) event(in *inForce, eventType, reason, note string) {
	if len(note) > maxNote {
		note = strings.ToValidUTF8(note[:maxNote], "")
	}
	p.Recorder.Eventf(in.policy, nil, eventType, reason, actionEvict, "%s", note)
}
