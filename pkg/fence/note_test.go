// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
)

// candidate is a process that can take the lease, and renew it.
type candidate struct {
	t     *testing.T
	lock  resourcelock.Interface
	fence *fence.Fence
	held  resourcelock.LeaderElectionRecord
}

func realLock(client kubernetes.Interface, name string) *resourcelock.LeaseLock {
	return &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "berth-system", Name: "berth-scheduler"}, Client: client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
}

func newCandidate(t *testing.T, client kubernetes.Interface, name string) *candidate {
	t.Helper()
	f := fence.New()
	return &candidate{t: t, lock: fence.NewLock(realLock(client, name), f, time.Hour), fence: f}
}

// earlier is one of a build that says nothing.
func earlier(t *testing.T, client kubernetes.Interface, name string) *candidate {
	t.Helper()
	return &candidate{t: t, lock: realLock(client, name), fence: fence.New()}
}

// takes lets a candidate take the lease as client-go does.
func (c *candidate) takes() *candidate {
	c.t.Helper()
	c.held = resourcelock.LeaderElectionRecord{HolderIdentity: c.lock.Identity(), LeaseDurationSeconds: 15}
	record, _, err := c.lock.Get(c.t.Context())
	if apierrors.IsNotFound(err) {
		if err := c.lock.Create(c.t.Context(), c.held); err != nil {
			c.t.Fatal(err)
		}
		return c
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.held.LeaderTransitions = record.LeaderTransitions
	if record.HolderIdentity != c.held.HolderIdentity {
		c.held.LeaderTransitions++
	}
	return c.renews()
}

func (c *candidate) renews() *candidate {
	c.t.Helper()
	if err := c.lock.Update(c.t.Context(), c.held); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// settles lets it say that what came before it is settled.
func (c *candidate) settles() *candidate {
	c.t.Helper()
	c.fence.Settle(fence.Units)
	return c.renews()
}

// settlesAll lets it find that nothing at all of what came before it can be carried out any more.
func (c *candidate) settlesAll() *candidate {
	c.t.Helper()
	c.fence.Settle(fence.Seats)
	return c.settles()
}

// leaves lets it give the lease back.
func (c *candidate) leaves() {
	c.t.Helper()
	c.held.HolderIdentity, c.held.LeaseDurationSeconds = "", 1
	c.renews()
}

// TestWhatLeadersBeforeCanHaveSent asks the last of some leaders.
func TestWhatLeadersBeforeCanHaveSent(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(t *testing.T, client kubernetes.Interface)
		want   fence.Late
	}{
		"the first": {before: func(*testing.T, kubernetes.Interface) {}},
		"after one that had settled": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
		}, fence.LateOfOne},
		"after one that had settled and renewed since": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles().renews().renews()
		}, fence.LateOfOne},
		"after one that had settled and gave the lease back": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles().leaves()
		}, fence.LateOfOne},
		"after one that had settled just before it gave the lease back": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			before := newCandidate(t, client, "a").takes()
			before.fence.Settle(fence.Units)
			before.leaves()
		}, fence.LateOfOne},
		"after one that had settled all and gave the lease back": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settlesAll().leaves()
		}, fence.LateNothing},
		"after one that had settled all and still has the lease": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settlesAll().renews()
		}, fence.LateOfOne},
		"after one that had settled all and gave the lease back with an outcome unknown": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			before := newCandidate(t, client, "a").takes().settlesAll()
			before.fence.Unclear()
			before.leaves()
		}, fence.LateOfOne},
		"after two of which the last had not settled anything": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settlesAll().leaves()
			newCandidate(t, client, "b").takes().leaves()
		}},
		"after one whose lease somebody has emptied": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settlesAll()
			changeLease(t, client, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = ptr.To("") })
		}, fence.LateOfOne},
		"after a stranger who took what had been given back": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settlesAll().leaves()
			changeLease(t, client, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = ptr.To("stranger") })
		}},
		"after two that had": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			newCandidate(t, client, "b").takes().settles()
		}, fence.LateOfOne},
		"after one that had not": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().renews()
		}},
		"after one that had not had the time to say so": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().fence.Settle(fence.Units)
		}},
		"after one in between that had not": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			newCandidate(t, client, "b").takes().renews()
		}},
		"after one in between that had not and gave the lease back": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			newCandidate(t, client, "b").takes().leaves()
		}},
		"after one of an earlier build": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			earlier(t, client, "b").takes()
		}},
		"after one of an earlier build that gave the lease back": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			earlier(t, client, "b").takes().leaves()
		}},
		"after a stranger, who counts nothing": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			changeLease(t, client, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = ptr.To("stranger") })
		}},
		"after the lease was deleted": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			deleteLease(t, client)
		}},
		"after one the count of whose lease somebody has taken away": {func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			changeLease(t, client, func(lease *coordinationv1.Lease) { lease.Spec.LeaseTransitions = nil })
		}, fence.LateOfOne},
		"after a note that nobody can read": {before: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			newCandidate(t, client, "a").takes().settles()
			changeLease(t, client, func(lease *coordinationv1.Lease) { lease.Labels = map[string]string{"berth.dev/settled-by": "yes"} })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			client := kubefake.NewClientset()
			tc.before(t, client)
			last := newCandidate(t, client, "last").takes()
			if got := last.renews().fence.Late(); got != tc.want {
				t.Errorf("Late = %d, want %d", got, tc.want)
			}
		})
	}
}

// Whoever has not settled what came before it takes away what its predecessor has said, so that
// nobody mistakes it for its own whatever becomes of the count of holders.
func TestTheNoteOfAnotherIsTakenAway(t *testing.T) {
	client := kubefake.NewClientset()
	newCandidate(t, client, "a").takes().settlesAll().leaves()
	newCandidate(t, client, "b").takes()
	lease, err := client.CoordinationV1().Leases("berth-system").Get(t.Context(), "berth-scheduler", metav1.GetOptions{})
	if err != nil || lease.Labels[berthv1alpha1.SettledByLabel] != "" {
		t.Errorf("the lease of b has the labels %v (%v)", lease.Labels, err)
	}
}
