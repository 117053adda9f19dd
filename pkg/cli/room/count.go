// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/utils/clock"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/plugins"
	"berth.dev/berth/pkg/simulator"
)

// answer is the answer. The names of its fields are a promise to programs.
type answer struct {
	Namespace string `json:"namespace"`
	// Name is the workload as kind/name.
	Name string `json:"name"`
	// Limit is the number to which was counted.
	Limit    int           `json:"limit"`
	Clusters []clusterRoom `json:"clusters"`
}

// clusterRoom is the room of a Cluster.
type clusterRoom struct {
	Name string `json:"name"`
	// Room is the number of further copies, at most the limit.
	Room int `json:"room"`
	// LimitedBy is what stops the next copy; absent if the limit was reached.
	LimitedBy string `json:"limitedBy,omitempty"`
}

var columns = []output.Column{{Name: "Cluster"}, {Name: "Room"}, {Name: "Limited by"}}

// count counts the room of all Clusters, by name.
func count(
	ctx context.Context, profile *simulator.Profile, fit *live.Fit, sample *sample, limit int,
) (*answer, error) {
	snapshot, err := simulator.New(profile, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	snapshot.SetObjects(&plugins.Objects{Clusters: fit.Clusters, Resources: fit.Resources})
	for _, object := range fit.Kubernetes {
		if err := snapshot.Put(object); err != nil {
			return nil, err
		}
	}
	clusters := slices.SortedFunc(slices.Values(fit.Clusters), func(a, b *berthv1alpha1.Cluster) int {
		return cmp.Compare(a.Name, b.Name)
	})
	a := &answer{
		Namespace: sample.pod.Namespace, Name: sample.title, Limit: limit, Clusters: make([]clusterRoom, len(clusters)),
	}
	for i, cluster := range clusters {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		room, err := snapshot.Room(ctx, cluster.Name, sample.pod, limit)
		if err != nil {
			return nil, err
		}
		a.Clusters[i] = clusterRoom{Name: cluster.Name, Room: room.Copies, LimitedBy: room.LimitedBy}
	}
	return a, nil
}

func (a *answer) rows() [][]any {
	rows := make([][]any, len(a.Clusters))
	for i, cluster := range a.Clusters {
		limitedBy := "<none>"
		if cluster.LimitedBy != "" {
			limitedBy = output.OneLine(cluster.LimitedBy)
		}
		rows[i] = []any{cluster.Name, cluster.Room, limitedBy}
	}
	return rows
}

// printNotes tells what people should know beside the table.
func printNotes(w io.Writer, a *answer, schedulers []string, asked string) {
	if len(a.Clusters) == 0 {
		fmt.Fprintln(w, "No Clusters found.")
	}
	if !slices.Contains(schedulers, asked) {
		fmt.Fprintf(w, "The pods use schedulerName %q; this is the room that %s would find for them.\n",
			output.OneLine(asked), strings.Join(schedulers, " or "))
	}
}
