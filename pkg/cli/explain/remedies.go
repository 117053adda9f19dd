// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth.dev/berth/pkg/cli/internal/output"
	tried "berth.dev/berth/pkg/cli/internal/remedies"
	"berth.dev/berth/pkg/explain"
	"berth.dev/berth/pkg/explain/placement"
	"berth.dev/berth/pkg/explain/remedy"
)

// remedies are what would let a pod run, or why that cannot be told.
type remedies struct {
	*remedy.Answer

	// Error says why it cannot be told; the rest is empty then.
	Error string `json:"error,omitempty"`
}

// remedies tries what would let a pod run that waits for a scheduler of Berth; nil for others. It
// needs to read more than the rest of the answer, so what keeps it from that is told, and is no
// error of the command.
func (o *podOptions) remedies(ctx context.Context, objects *placement.Objects, pod *corev1.Pod, answer *explain.PodAnswer) *remedies {
	if !o.wantsRemedies || !answer.Waits() || !slices.Contains(o.profile.Schedulers(), pod.Spec.SchedulerName) {
		return nil
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return &remedies{Error: err.Error()}
	}
	found, err := tried.Find(ctx, clients, &o.profile, objects, pod, answer)
	if err != nil {
		return &remedies{Error: err.Error()}
	}
	return &remedies{Answer: found}
}

var remedyColumns = []output.Column{{Name: "Cluster"}, {Name: "Node"}, {Name: "Change"}}

// print writes the remedies for people.
func (r *remedies) print(w io.Writer) error {
	switch {
	case r == nil:
		return nil
	case r.Error != "":
		fmt.Fprintf(w, "\nWhat would let it run cannot be worked out: %s\n", output.OneLine(r.Error))
		return nil
	}
	fmt.Fprintln(w)
	if found := r.Rows(); len(found) > 0 {
		fmt.Fprintln(w, remedy.Heading+":")
		rows := make([][]any, len(found))
		for i, row := range found {
			rows[i] = []any{row.Cluster, row.Node, row.Change}
		}
		if err := output.Rows(w, false, remedyColumns, rows); err != nil {
			return err
		}
	}
	for _, sentence := range r.Says() {
		fmt.Fprintln(w, output.OneLine(sentence))
	}
	return nil
}
