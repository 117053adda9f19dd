// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"context"
	"fmt"
	"io"
	"slices"

	"berth.dev/berth/pkg/cli/internal/past"
	"berth.dev/berth/pkg/history"
)

// historyLong tells what all commands have in common that take --history.
const historyLong = `With --history the schedulers and controllers of namespace berth-system are asked what they have decided, through
ports that the API server forwards: that takes the right to create pods/portforward there, and the ClusterRole
berth-history-reader. Your credentials go to these programs, as they would to an API server. You are told what you may get. Each
process remembers a day or 16 MiB, and nothing from before its start; a line for each says since when.`

// remembered is what the processes said, if they were asked.
type remembered struct {
	History []past.Answer `json:"history,omitempty"`
}

// tell asks the processes about an object if the flags want that.
func (q *question) tell(ctx context.Context, namespace, name string) (remembered, error) {
	if !q.past.Wanted {
		return remembered{}, nil
	}
	clients, err := q.factory.Clients()
	if err != nil {
		return remembered{}, err
	}
	answers, err := q.past.Ask(ctx, clients, history.Object{Group: q.group, Kind: q.kind, Namespace: namespace, Name: name})
	return remembered{answers}, err
}

// empty reports whether no process remembers anything.
func (r remembered) empty() bool {
	return !slices.ContainsFunc(r.History, func(a past.Answer) bool { return len(a.Entries) > 0 })
}

// notFound is the error for an object that does not exist and that no process remembers.
func (q *question) notFound(namespace, name string, told remembered) error {
	return fmt.Errorf("%s %q not found in namespace %q%s", q.singular, name, namespace, past.Silence(told.History))
}

// print writes the history for people, if it was asked for.
func (r remembered) print(w io.Writer) error {
	if r.History == nil {
		return nil
	}
	return past.Print(w, r.History)
}
