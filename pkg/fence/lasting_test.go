// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/utils/ptr"

	"berth.dev/berth/pkg/fence"
)

// deleteLease is what an admin may do.
func deleteLease(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	if err := client.CoordinationV1().Leases("berth-system").Delete(t.Context(), "berth-scheduler", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func changeLease(t *testing.T, client kubernetes.Interface, change func(*coordinationv1.Lease)) {
	t.Helper()
	leases := client.CoordinationV1().Leases("berth-system")
	lease, err := leases.Get(t.Context(), "berth-scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(lease)
	if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestALeaseCountsForAsLongAsItLasted has process a lead until something is done to its lease, of
// which it does not know, and asks after how many seconds process b leads.
func TestALeaseCountsForAsLongAsItLasted(t *testing.T) {
	for name, tc := range map[string]struct {
		happens func(*testing.T, kubernetes.Interface)
		// late is true if b begins afterwards.
		late bool
		want int
	}{
		"given back by its holder": {happens: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			changeLease(t, client, func(l *coordinationv1.Lease) {
				l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = nil, ptr.To[int32](1)
			})
		}},
		"deleted": {happens: deleteLease, want: 15},
		"emptied": {happens: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			changeLease(t, client, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		}, want: 15},
		"taken for a second": {happens: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			changeLease(t, client, func(l *coordinationv1.Lease) {
				l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = ptr.To("stranger"), ptr.To[int32](1)
			})
		}, want: 10},
		"emptied before b has seen it": {happens: func(t *testing.T, client kubernetes.Interface) {
			t.Helper()
			changeLease(t, client, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		}, late: true, want: 15},
		"deleted before b has seen it": {happens: deleteLease, late: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := kubefake.NewClientset()
				newCandidate(t, client, "a").takes()
				leads := make(chan struct{})
				elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
					Lock: fence.NewLock(realLock(client, "b"), fence.New(), 10*time.Second), LeaseDuration: 15 * time.Second,
					RenewDeadline: 10 * time.Second, RetryPeriod: 100 * time.Millisecond,
					Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { close(leads) }, OnStoppedLeading: func() {}},
				})
				if err != nil {
					t.Fatal(err)
				}
				if !tc.late {
					go elector.Run(t.Context())
					time.Sleep(time.Second) //nolint:forbidigo // the time of the test is not the real one
				}
				tc.happens(t, client)
				began := time.Now()
				if tc.late {
					go elector.Run(t.Context())
				}
				<-leads
				if took := time.Since(began); took < time.Duration(tc.want)*time.Second || took > time.Duration(tc.want)*time.Second+time.Second {
					t.Errorf("b leads after %v, want %d s", took, tc.want)
				}
			})
		})
	}
}

// TestWhoHoldsALeaseMakesItAnew has the holder renew a lease that somebody has deleted or emptied.
func TestWhoHoldsALeaseMakesItAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubefake.NewClientset()
		f := fence.New()
		a := (&candidate{t: t, lock: fence.NewLock(realLock(client, "a"), f, 10*time.Second), fence: f}).takes()
		changeLease(t, client, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		a.takes()
		deleteLease(t, client)
		a.takes()
		if holder := leaseHolder(t, client); holder != "a" || !entered(t, a.fence) {
			t.Errorf("%q holds the lease", holder)
		}
		changeLease(t, client, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = ptr.To("stranger") })
		record, _, err := a.lock.Get(t.Context())
		if err != nil || record.HolderIdentity != "stranger" || entered(t, a.fence) {
			t.Errorf("of the lease of a stranger: %v, %v; or something is sent still", record, err)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the time of the test is not the real one
		deleteLease(t, client)
		var held []bool
		for range 3 {
			_, _, err := a.lock.Get(t.Context())
			held = append(held, !apierrors.IsNotFound(err))
			time.Sleep(10 * time.Second) //nolint:forbidigo // the time of the test is not the real one
		}
		if diff := cmp.Diff([]bool{true, true, false}, held); diff != "" {
			t.Errorf("the lease counts, when it is found missing and every ten seconds (-want +got):\n%s", diff)
		}
	})
}

// TestALeaseThatCouldNotBeReadCountsAnew empties a lease, which counts from then on for as long as
// it lasted. While it could not be read another process may have had it, and emptied it again.
func TestALeaseThatCouldNotBeReadCountsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubefake.NewClientset()
		newCandidate(t, client, "a").takes()
		changeLease(t, client, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
		unreadable := false
		client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
			return unreadable, nil, apierrors.NewInternalError(errors.New("no"))
		})
		lock := fence.NewLock(realLock(client, "b"), fence.New(), 10*time.Second)
		var seen []string
		for _, unreadable = range []bool{false, false, true, false, false, false} {
			record, _, err := lock.Get(t.Context())
			switch {
			case err != nil:
				seen = append(seen, "unreadable")
			case record.HolderIdentity == "":
				seen = append(seen, "free")
			default:
				seen = append(seen, "counts")
			}
			time.Sleep(6 * time.Second) //nolint:forbidigo // the time of the test is not the real one
		}
		if diff := cmp.Diff([]string{"counts", "counts", "unreadable", "counts", "counts", "counts"}, seen); diff != "" {
			t.Errorf("the lease, every six seconds (-want +got):\n%s", diff)
		}
	})
}
