// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// tally is fill for copies that do not stay, and that count on their node only: they are put on a
// copy of it, and nothing is reserved for them. None of them makes room for another one, so not all
// of them have to go through Filter. Most nodes take as many as the one before did.
func (c *count) tally(node fwk.NodeInfo) error {
	t, err := newTally(c, node)
	if err != nil {
		return err
	}
	var full *fwk.Status
	low, high := 0, c.limit-c.copies // The node takes between so many copies.
	for probe, step := max(0, min(c.before, high)-1), 1; low < high; {
		status, err := t.filter(probe)
		switch {
		case err != nil:
			return err
		case status.IsSuccess():
			low = probe + 1
		default:
			high, full = probe, status
		}
		if full != nil {
			probe = low + (high-low)/2
			continue
		}
		probe = min(low+step, high) - 1
		step *= 2
	}
	if full != nil {
		c.fit.Diagnosis.NodeToStatus.Set(node.Node().Name, full)
	}
	c.copies, c.before = c.copies+low, low
	return t.set(low)
}

// tally is a node with copies on it.
type tally struct {
	*count
	node, local fwk.NodeInfo
	copied      fwk.PodInfo
	copies      int
}

func newTally(c *count, node fwk.NodeInfo) (*tally, error) {
	copied := *c.pod
	copied.Spec.NodeName = node.Node().Name
	info, err := framework.NewPodInfo(&copied)
	return &tally{count: c, node: node, local: node, copied: info}, err
}

// filter returns whether the node takes one more when there are so many copies on it.
func (t *tally) filter(copies int) (*fwk.Status, error) {
	if err := t.set(copies); err != nil {
		return nil, err
	}
	status := t.framework.RunFilterPlugins(t.ctx, t.state, t.pod, t.local)
	if status.Code() == fwk.Error {
		return nil, status.AsError()
	}
	return status, nil
}

// set puts so many copies on the node.
func (t *tally) set(copies int) error {
	if copies == t.copies {
		return nil
	}
	if copies < t.copies || t.copies == 0 {
		t.local = t.node.Snapshot()
		for range min(copies, t.copies) {
			t.local.AddPodInfo(t.copied)
		}
	}
	for ; t.copies > copies; t.copies-- {
		if status := t.framework.RunPreFilterExtensionRemovePod(t.ctx, t.state, t.pod, t.copied, t.local); !status.IsSuccess() {
			return status.AsError()
		}
	}
	for ; t.copies < copies; t.copies++ {
		t.local.AddPodInfo(t.copied)
		if status := t.framework.RunPreFilterExtensionAddPod(t.ctx, t.state, t.pod, t.copied, t.local); !status.IsSuccess() {
			return status.AsError()
		}
	}
	return nil
}
