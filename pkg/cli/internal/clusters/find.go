// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusters finds and shows registered clusters, for all commands that do.
package clusters

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/values"
	"berth.dev/berth/pkg/registration"
)

// pageSize bounds the clusters that are asked for at once.
const pageSize = 500

// Key names a cluster: by --name, by --id, or by an argument as kubectl does.
type Key struct {
	name, id string
}

// AddFlags adds the flags --name and --id.
func (k *Key) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&k.name, "name", "", "name of the cluster")
	flags.StringVar(&k.id, "id", "", "id of the cluster, a UUID")
}

// Take takes the arguments, of which there may be one, a name, and checks that exactly one cluster
// is named.
func (k *Key) Take(args []string) error {
	given := len(args)
	for _, flag := range []string{k.name, k.id} {
		if flag != "" {
			given++
		}
	}
	if given != 1 {
		return values.UsageErrorf("name one cluster: NAME, --name NAME or --id ID")
	}
	if len(args) == 1 {
		k.name = args[0]
	}
	var err error
	if k.id != "" {
		err = registration.CheckID(k.id)
	} else {
		err = registration.CheckName(k.name)
	}
	if err != nil {
		return values.UsageErrorf("%v", err)
	}
	return nil
}

// String is the id or the name, as the user wrote it.
func (k *Key) String() string { return k.id + k.name }

// Find returns the cluster.
func (k *Key) Find(ctx context.Context, clients client.Clients) (*berthv1alpha1.Cluster, error) {
	if k.id != "" {
		return k.findID(ctx, clients)
	}
	cluster, err := clients.Berth.BerthV1alpha1().Clusters().Get(ctx, k.name, metav1.GetOptions{})
	if client.IsObjectMissing(err) {
		return nil, fmt.Errorf("cluster %q not found", k.name)
	}
	return cluster, client.DescribeBerthError(fmt.Sprintf("reading cluster %q", k.name), err)
}

// findID goes through all clusters: the API server finds them by name only.
func (k *Key) findID(ctx context.Context, clients client.Clients) (*berthv1alpha1.Cluster, error) {
	all, err := List(ctx, clients)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if strings.EqualFold(string(all[i].UID), k.id) {
			return &all[i], nil
		}
	}
	return nil, fmt.Errorf("cluster with id %q not found", k.id)
}

// List returns all clusters, sorted by name.
func List(ctx context.Context, clients client.Clients) ([]berthv1alpha1.Cluster, error) {
	var all []berthv1alpha1.Cluster
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := clients.Berth.BerthV1alpha1().Clusters().List(ctx, options)
		if err != nil {
			return nil, client.DescribeBerthError("listing clusters", err)
		}
		all = append(all, page.Items...)
		if options.Continue = page.Continue; options.Continue == "" {
			return all, nil
		}
	}
}
