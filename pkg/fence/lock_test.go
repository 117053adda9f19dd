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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"berth.dev/berth/pkg/fence"
)

// fakeLock is a lease lock without a lease.
type fakeLock struct {
	resourcelock.Interface

	took     time.Duration
	err      error
	atUpdate func()
}

func (*fakeLock) Identity() string { return "me" }
func (*fakeLock) Describe() string { return "berth-system/berth-scheduler" }

func (l *fakeLock) Create(context.Context, resourcelock.LeaderElectionRecord) error { return l.write() }
func (l *fakeLock) Update(context.Context, resourcelock.LeaderElectionRecord) error { return l.write() }

func (l *fakeLock) write() error {
	if l.atUpdate != nil {
		l.atUpdate()
	}
	time.Sleep(l.took) //nolint:forbidigo // the time of the test is not the real one
	return l.err
}

var (
	mine     = resourcelock.LeaderElectionRecord{HolderIdentity: "me", LeaseDurationSeconds: 15}
	released = resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1}
)

func TestALeaseOpensTheFenceFromWhenItWasAskedFor(t *testing.T) {
	for name, write := range map[string]func(*fence.Lock, context.Context) error{
		"create": func(l *fence.Lock, ctx context.Context) error { return l.Create(ctx, mine) },
		"renew":  func(l *fence.Lock, ctx context.Context) error { return l.Update(ctx, mine) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fence.New()
				asked := time.Now()
				lock := fence.NewLock(&fakeLock{took: 4 * time.Second}, f, 10*time.Second)
				if err := write(lock, t.Context()); err != nil {
					t.Fatal(err)
				}
				guarded, leave, err := f.Enter(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer leave()
				// The others count the 15 s of the lease from some time after the request was sent.
				if deadline, _ := guarded.Deadline(); !deadline.Equal(asked.Add(10 * time.Second)) {
					t.Errorf("the fence is open for %v from the request on, want 10s", deadline.Sub(asked))
				}
			})
		})
	}
}

func TestALeaseThatIsNotGrantedOpensNothing(t *testing.T) {
	refused := errors.New("conflict")
	for name, write := range map[string]func(*fence.Lock, context.Context) error{
		"create": func(l *fence.Lock, ctx context.Context) error { return l.Create(ctx, mine) },
		"renew":  func(l *fence.Lock, ctx context.Context) error { return l.Update(ctx, mine) },
	} {
		t.Run(name, func(t *testing.T) {
			f := fence.New()
			lock := fence.NewLock(&fakeLock{err: refused}, f, 10*time.Second)
			if err := write(lock, t.Context()); !errors.Is(err, refused) {
				t.Errorf("got error %v, want %v", err, refused)
			}
			if entered(t, f) {
				t.Error("the fence is open")
			}
		})
	}
}

func TestTheLeaseIsGivenBackAfterTheLastWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fence.New()
		var order []string
		lock := fence.NewLock(&fakeLock{atUpdate: func() { order = append(order, "lease updated") }}, f, 10*time.Second)
		if err := lock.Update(t.Context(), mine); err != nil {
			t.Fatal(err)
		}
		_, leave, err := f.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := lock.Update(ctx, released); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the lease was given back with a write under way: %v", err)
		}
		if entered(t, f) {
			t.Error("a write began after the lease was to be given back")
		}
		go func() {
			time.Sleep(time.Second) //nolint:forbidigo // the time of the test is not the real one
			order = append(order, "write ended")
			leave()
		}()
		if err := lock.Update(t.Context(), released); err != nil {
			t.Errorf("the lease is not given back: %v", err)
		}
		if diff := cmp.Diff([]string{"lease updated", "write ended", "lease updated"}, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// TestLeaderElectionKeepsTheFence runs client-go's leader election on the lock.
func TestLeaderElectionKeepsTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := kubefake.NewClientset()
		f := fence.New()
		inner := &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: "berth-system", Name: "berth-scheduler"}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: fence.NewLock(inner, f, 10*time.Second), LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second,
			RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			elector.Run(ctx)
			close(ended)
		}()
		time.Sleep(time.Minute) //nolint:forbidigo // the time of the test is not the real one
		if !entered(t, f) {
			t.Error("the fence is closed although the lease has been renewed for a minute")
		}
		_, leave, err := f.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stop()
		synctest.Wait()
		if entered(t, f) {
			t.Error("the fence is open although the lease is being given back")
		}
		if holder := leaseHolder(t, client); holder != "me" {
			t.Errorf("%q holds the lease while a write is under way, want me", holder)
		}
		leave()
		<-ended
		if holder := leaseHolder(t, client); holder != "" {
			t.Errorf("%q holds the lease, want nobody", holder)
		}
	})
}

// Leader election reads the lease before it gives that back, and does not look whose it is.
func TestTheLeaseOfAnotherIsNotGivenBack(t *testing.T) {
	client := kubefake.NewClientset()
	lock := fence.NewLock(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: "berth-system", Name: "berth-scheduler"}, Client: client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
	}, fence.New(), 10*time.Second)
	if err := lock.Create(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	leases := client.CoordinationV1().Leases("berth-system")
	lease, err := leases.Get(t.Context(), "berth-scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := "other"
	lease.Spec.HolderIdentity = &other
	if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := lock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = lock.Update(t.Context(), released)
	if holder := leaseHolder(t, client); holder != other || err == nil {
		t.Errorf("%q holds the lease after it was given back (%v), want %s and an error", holder, err, other)
	}
}

func leaseHolder(t *testing.T, client *kubefake.Clientset) string {
	t.Helper()
	lease, err := client.CoordinationV1().Leases("berth-system").Get(t.Context(), "berth-scheduler", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
