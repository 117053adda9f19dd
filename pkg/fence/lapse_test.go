// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/fence"
)

// versioned returns an API server that gives each change of a lease a version.
func versioned() *kubefake.Clientset {
	client, version := kubefake.NewClientset(), 0
	client.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if write, ok := action.(interface{ GetObject() runtime.Object }); ok {
			version++
			write.GetObject().(*coordinationv1.Lease).ResourceVersion = strconv.Itoa(version) //nolint:forcetypeassert // as it says
		}
		return false, nil, nil
	})
	return client
}

// openFor is newCandidate with a fence that a renewal opens for so long.
func openFor(t *testing.T, client kubernetes.Interface, name string, open time.Duration) *candidate {
	t.Helper()
	f := fence.New()
	return &candidate{t: t, lock: fence.NewLock(realLock(client, name), f, open), fence: f}
}

// looks lets a candidate read the lease, and returns the version in which it is found to have
// lapsed, empty if it has not.
func (c *candidate) looks() string {
	c.t.Helper()
	if _, _, err := c.lock.Get(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	select {
	case version := <-c.fence.Lapsed():
		return version
	default:
		return ""
	}
}

// TestTheFenceOfAnotherHasClosed looks at a lease, does something to it, and looks again after a
// while.
func TestTheFenceOfAnotherHasClosed(t *testing.T) {
	const mine, theirs = 5 * time.Second, 10 * time.Second
	nothing := func(*testing.T, kubernetes.Interface, *candidate) {}
	sayNow := func(text func(said string) string) func(*testing.T, kubernetes.Interface, *candidate) {
		return func(t *testing.T, client kubernetes.Interface, _ *candidate) {
			t.Helper()
			changeLease(t, client, func(lease *coordinationv1.Lease) {
				lease.Labels[berthv1alpha1.OpenForLabel] = text(lease.Labels[berthv1alpha1.OpenForLabel])
			})
		}
	}
	for name, tc := range map[string]struct {
		first, then func(*testing.T, kubernetes.Interface, *candidate)
		after       time.Duration
		want        bool
	}{
		"as long as it said after it was seen":  {first: nothing, then: nothing, after: theirs, want: true},
		"not before":                            {first: nothing, then: nothing, after: theirs - 1},
		"not since it was renewed":              {first: nothing, then: func(_ *testing.T, _ kubernetes.Interface, c *candidate) { c.renews() }, after: theirs},
		"not of one that has given it back":     {first: func(_ *testing.T, _ kubernetes.Interface, c *candidate) { c.leaves() }, then: nothing, after: theirs},
		"not of an earlier build":               {first: sayNow(func(string) string { return "" }), then: nothing, after: theirs},
		"not of one that nobody can read":       {first: sayNow(func(said string) string { return said + "s" }), then: nothing, after: theirs},
		"not of one that says less than nobody": {first: sayNow(func(said string) string { return said[:len(said)-2] + "-1" }), then: nothing, after: theirs},
		"not of one that says more than the lease lasts": {
			first: sayNow(func(said string) string { return said + "0" }), then: nothing, after: 1000 * time.Second,
		},
		"as long as this one's own if it says less": {
			first: sayNow(func(said string) string { return said[:len(said)-2] + "1" }), then: nothing, after: mine, want: true,
		},
		"not before that": {first: sayNow(func(said string) string { return said[:len(said)-2] + "1" }), then: nothing, after: mine - 1},
		"not of an earlier build that took it": {
			first: func(t *testing.T, client kubernetes.Interface, _ *candidate) {
				t.Helper()
				earlier(t, client, "b").takes()
			}, then: nothing, after: theirs,
		},
		"not of one whose name somebody has changed": {
			first: func(t *testing.T, client kubernetes.Interface, _ *candidate) {
				t.Helper()
				changeLease(t, client, func(lease *coordinationv1.Lease) { lease.Spec.HolderIdentity = ptr.To("b") })
			}, then: nothing, after: theirs,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := versioned()
				holder := openFor(t, client, "a", theirs).takes()
				tc.first(t, client, holder)
				waits := openFor(t, client, "last", mine)
				if version := waits.looks(); version != "" {
					t.Errorf("it has lapsed in version %s when it is seen first", version)
				}
				tc.then(t, client, holder)
				time.Sleep(tc.after) //nolint:forbidigo // the time of the test is not the real one
				version := waits.looks()
				if (version != "") != tc.want {
					t.Errorf("it has lapsed in version %q, want that it has: %t", version, tc.want)
				}
				if waits.takes(); tc.want && waits.fence.Took() != version {
					t.Errorf("it was taken in version %q, want %q", waits.fence.Took(), version)
				}
			})
		})
	}
}

// A lease that the holder has renewed after all is another one than that which had lapsed.
func TestALeaseThatWasRenewedIsTakenInAnotherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := versioned()
		holder, waits := openFor(t, client, "a", time.Second).takes(), openFor(t, client, "last", time.Second)
		waits.looks()
		time.Sleep(time.Second) //nolint:forbidigo // the time of the test is not the real one
		version := waits.looks()
		holder.renews()
		if waits.takes(); version == "" || waits.fence.Took() == version {
			t.Errorf("lapsed in version %q and taken in %q", version, waits.fence.Took())
		}
	})
}
