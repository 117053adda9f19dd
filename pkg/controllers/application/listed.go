// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package application

import (
	"context"
	"slices"
	"time"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
)

// maxListed is how many objects the status lists.
const maxListed = 200

// list notes in the status what there is going to be, before it is made, and reports whether the
// status has room for it.
func (p *pass) list(objects []*object) bool {
	all := slices.Clone(p.app.Status.Objects)
	for _, o := range objects {
		if !slices.Contains(all, o.key()) {
			all = append(all, o.key())
		}
	}
	if len(all) > maxListed {
		return false
	}
	p.app.Status.Objects = all
	return true
}

// clear removes the objects that are not in the spec any more, so that the status has room for
// those that are.
func (r *Reconciler) clear(ctx context.Context, p *pass, objects []*object, seen *observed) error {
	w, err := r.writer(ctx, p)
	if err == nil {
		err = w.prune(ctx, objects, seen.policies)
	}
	if err != nil {
		return p.report(objects, seen, err)
	}
	p.app.Status.Objects = slices.DeleteFunc(p.app.Status.Objects, func(listed berthv1alpha1.ApplicationObject) bool {
		return !slices.ContainsFunc(objects, func(o *object) bool { return o.key() == listed })
	})
	p.again(time.Millisecond)
	return nil
}
