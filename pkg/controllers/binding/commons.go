// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/placement/binding"
)

// commons makes one step towards one ready scheduler that looks after what belongs to no cluster,
// and reports whether more are to come. The record is kept by the schedulers themselves: the one
// with status.commons. First it is taken from the old one, then given to the new one, so that at no
// time two have it.
func (p *pass) commons(ctx context.Context) (more bool, err error) {
	record, desired := p.commonsRecord()
	if _, step := binding.Next(berthv1alpha1.CommonsName, record, desired, p.schedulers); step == binding.Stay {
		return record.Home != desired, nil
	}
	// The cache may be behind what this very controller wrote.
	var live berthv1alpha1.SchedulerList
	if err := p.Live.List(ctx, &live); err != nil {
		return false, fmt.Errorf("listing schedulers: %w", err)
	}
	fresh := &pass{Reconciler: p.Reconciler, objects: map[string]*berthv1alpha1.Scheduler{}, schedulers: binding.Schedulers{}}
	for i := range live.Items {
		fresh.add(&live.Items[i])
		if known := p.schedulers[live.Items[i].Name]; known != nil {
			fresh.schedulers[live.Items[i].Name].Fenced = known.Fenced
		}
	}
	record, desired = fresh.commonsRecord()
	next, step := binding.Next(berthv1alpha1.CommonsName, record, desired, fresh.schedulers)
	if step == binding.Stay || !p.stillFenced() {
		return true, nil
	}
	return true, fresh.writeCommons(ctx, record, next, step)
}

// commonsRecord returns who has the commons, and who should: whoever has them as long as it is
// ready, otherwise the first.
func (p *pass) commonsRecord() (record binding.Record, desired string) {
	for _, name := range p.sortedNames() {
		if c := p.objects[name].Status.Commons; c != nil && record.Home == "" {
			record = binding.Record{Home: name, Moving: c.Draining, Revision: c.Revision}
		}
		if desired == "" && p.schedulers[name].Takes() {
			desired = name
		}
	}
	if owner := p.schedulers[record.Home]; owner.Takes() {
		desired = record.Home
	}
	// Where the commons go is not written down, so it cannot differ.
	if record.Moving {
		record.To = desired
	}
	return record, desired
}

func (p *pass) writeCommons(ctx context.Context, before, next binding.Record, step binding.Step) error {
	write := func(name string, commons *berthv1alpha1.Commons) error {
		object := p.objects[name]
		after := object.DeepCopy()
		after.Status.Commons = commons
		err := p.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{}))
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return fmt.Errorf("writing the commons of scheduler %s: %w", name, err)
		}
		return nil
	}
	switch step {
	case binding.Bind:
		return write(next.Home, &berthv1alpha1.Commons{Revision: p.commonsRevision()})
	case binding.Drain, binding.Cancel:
		return write(before.Home, &berthv1alpha1.Commons{Revision: next.Revision, Draining: next.Moving})
	default:
		// The next pass gives them to whoever is to have them.
		return write(before.Home, nil)
	}
}

// commonsRevision returns a revision that no scheduler has acknowledged. Nobody remembers the last
// one while nobody has the commons, so it is the time.
func (p *pass) commonsRevision() int64 {
	return p.Clock.Now().UnixNano()
}
