// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fence

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/ptr"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// note is what the leaders say to each other in a label of the lease: who holds it, since which
// change of the holder, and that what leaders before have sent is settled. Whoever gives the lease
// back adds that nothing of his own is on its way either. It counts only while it is the last
// holder's: any other in between, of whatever build, makes it void.
type note struct {
	lock *resourcelock.LeaseLock
	// read is the lease as it was read last.
	read *coordinationv1.Lease
}

// newNote returns nil for a lock that is not one lease.
func newNote(lock resourcelock.Interface) *note {
	lease, ok := lock.(*resourcelock.LeaseLock)
	if !ok {
		return nil
	}
	n := &note{lock: lease}
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
	text := digest(n.lock.Identity()) + "-" + strconv.Itoa(transitions)
	if all {
		text += withAll
	}
	switch {
	case settled:
		n.lock.Labels = map[string]string{berthv1alpha1.SettledByLabel: text}
	case n.read != nil && n.read.Labels[berthv1alpha1.SettledByLabel] != "":
		n.lock.Labels = map[string]string{berthv1alpha1.SettledByLabel: ""}
	}
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
	}
	return lease, err
}
