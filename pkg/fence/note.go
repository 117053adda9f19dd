// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// note is what the leaders say to each other in a label of the lease: who holds it, since which
// change of the holder, for how long it may bind pods after a renewal, and that what leaders before
// have sent is settled. Whoever gives the lease back adds that nothing of his own is on its way
// either. It counts only while it is the last holder's: any other in between, of whatever build,
// makes it void.
type note struct {
	lock *resourcelock.LeaseLock
	// open is for how long a renewal opens the fence of this process.
	open time.Duration
	// read is the lease as it was read last.
	read *coordinationv1.Lease
	// version is the one in which the lease is known, and since how long.
	version string
	since   time.Time
	lapsed  func(version string)
}

// newNote returns nil for a lock that is not one lease. Lapsed is called whenever the lease is read
// in a version by which its holder, who is another, cannot bind any more.
func newNote(lock resourcelock.Interface, open time.Duration, lapsed func(version string)) *note {
	lease, ok := lock.(*resourcelock.LeaseLock)
	if !ok {
		return nil
	}
	n := &note{lock: lease, open: open, lapsed: lapsed}
	lease.Client = &readLeases{lease.Client, n}
	return n
}

// withAll ends the note of a holder who gave the lease back when all that he had sent was known.
const withAll = "-all"

// digest is an identity as a label can have it.
func digest(holder string) string {
	sum := sha256.Sum256([]byte(holder))
	return hex.EncodeToString(sum[:8])
}

// takes reports whether the lease was another's, or nobody's, when it was read last.
func (n *note) takes() bool {
	return n.read != nil && ptr.Deref(n.read.Spec.HolderIdentity, "") != n.lock.Identity()
}

// ofLast returns what the last holder, who may have given the lease back, says to be late.
func (n *note) ofLast() Late {
	said, all := strings.CutSuffix(n.read.Labels[berthv1alpha1.SettledByLabel], withAll)
	who, since, found := strings.Cut(said, "-")
	holder := ptr.Deref(n.read.Spec.HolderIdentity, "")
	switch {
	case !found || since != strconv.Itoa(int(ptr.Deref(n.read.Spec.LeaseTransitions, 0))) || holder != "" && who != digest(holder):
		return LateOfMany
	case all && holder == "":
		return LateNothing
	}
	return LateOfOne
}

// write lets the next write of the holder leave its note, if what holders before have sent is
// settled, or take away that of another. So many holders came before. All says that nothing of its
// own is left either.
func (n *note) write(transitions int, settled, all bool) {
	text := signature(n.lock.Identity(), transitions)
	n.lock.Labels = map[string]string{berthv1alpha1.OpenForLabel: text + "-" + strconv.Itoa(secondsOf(n.open))}
	if all {
		text += withAll
	}
	switch {
	case settled:
		n.lock.Labels[berthv1alpha1.SettledByLabel] = text
	case n.read != nil && n.read.Labels[berthv1alpha1.SettledByLabel] != "":
		n.lock.Labels[berthv1alpha1.SettledByLabel] = ""
	}
}

// signature is what the notes of a holder begin with, before whom so many others came.
func signature(holder string, transitions int) string {
	return digest(holder) + "-" + strconv.Itoa(transitions)
}

// watch notes the lease as it was read just now.
func (n *note) watch(lease *coordinationv1.Lease) {
	now := time.Now()
	if n.version != lease.ResourceVersion {
		n.version, n.since = lease.ResourceVersion, now
		return
	}
	if open := n.openOf(lease); open > 0 && now.Sub(n.since) >= open {
		n.lapsed(n.version)
	}
}

// openOf returns for how long the fence of the holder is open after a renewal, 0 if it does not say
// so. A holder that says less than this process would is not believed.
func (n *note) openOf(lease *coordinationv1.Lease) time.Duration {
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	said, own := strings.CutPrefix(lease.Labels[berthv1alpha1.OpenForLabel],
		signature(holder, int(ptr.Deref(lease.Spec.LeaseTransitions, 0)))+"-")
	seconds, err := strconv.Atoi(said)
	if !own || err != nil || holder == "" || holder == n.lock.Identity() ||
		seconds < 0 || seconds > int(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) {
		return 0
	}
	return max(n.open, time.Duration(seconds)*time.Second)
}

// readLeases notes the lease that is read.
type readLeases struct {
	coordination.LeasesGetter
	note *note
}

// Leases returns the leases of a namespace.
func (r *readLeases) Leases(namespace string) coordination.LeaseInterface {
	return &readNamespace{r.LeasesGetter.Leases(namespace), r.note}
}

type readNamespace struct {
	coordination.LeaseInterface
	note *note
}

// Get reads the lease.
func (r *readNamespace) Get(ctx context.Context, name string, options metav1.GetOptions) (*coordinationv1.Lease, error) {
	lease, err := r.LeaseInterface.Get(ctx, name, options)
	r.note.read = nil
	if err == nil {
		r.note.read = lease.DeepCopy() // the lock writes into its own
		r.note.watch(lease)
	}
	return lease, err
}
