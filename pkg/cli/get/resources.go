// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package get

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/live"
	"berth.dev/berth/pkg/cli/internal/objects"
	"berth.dev/berth/pkg/cli/internal/output"
)

const resourcesLong = `Show what is left in the pools of ClusterResources.

  CAPACITY   how much there is in the pool
  ALLOCATED  what pods hold of it
  FREE       what is left
  HOLDERS    pods that hold some of it
  WAITING    pods that ask for the ClusterResource and have no node; they wait for no pool in particular

With -o wide also:

  ALLOCATABLE    what pods may hold together, if that differs from the capacity
  NODE-SELECTOR  labels of the nodes whose pods draw on the pool
  MODE           AnyOf if one of several pools is charged, AllOf if each of them is

A pool that is declared no more has a row as long as pods hold some of it. The numbers are those of the status, which
berth-controller-manager brings up to date within a second.`

const resourcesExample = `  # All pools
  berthctl get resources

  # One ClusterResource, and which namespaces hold most of it
  berthctl get resources matlab

  # How much is left in each pool, for a program
  berthctl get resources matlab -o json | jq '.items[].pools | map({(.name): .free}) | add'`

// resourcesOptions are the flags of get resources.
type resourcesOptions struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	output  *output.Flag
}

// resources is the answer. The names of its fields are a promise to programs.
type resources struct {
	Items []resourceItem `json:"items"`
}

type resourceItem struct {
	Name string `json:"name"`
	Mode string `json:"mode"`
	// Ready reports whether the pools can be used, Message why not, or what is peculiar.
	Ready         bool   `json:"ready"`
	Message       string `json:"message,omitempty"`
	Overcommitted bool   `json:"overcommitted"`
	// Deleting says that it is kept for its holders only.
	Deleting bool `json:"deleting"`
	// Waiting is the number of pods that ask for it and have no node.
	Waiting       int32                               `json:"waiting"`
	Pools         []poolItem                          `json:"pools"`
	TopNamespaces []berthv1alpha1.NamespaceAllocation `json:"topNamespaces,omitempty"`

	// outdated says that the status is not of the present spec.
	outdated bool
	// inUse tells who keeps it from being deleted, over which pools hold too much.
	inUse, over string
}

// poolItem is a pool. Capacity and Allocatable are absent from pools that are declared no more.
type poolItem struct {
	Name         string             `json:"name"`
	Capacity     *resource.Quantity `json:"capacity,omitempty"`
	Allocatable  *resource.Quantity `json:"allocatable,omitempty"`
	Allocated    resource.Quantity  `json:"allocated"`
	Free         resource.Quantity  `json:"free"`
	Holders      int32              `json:"holders"`
	NodeSelector map[string]string  `json:"nodeSelector,omitempty"`
}

func newResources(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &resourcesOptions{
		streams: streams, factory: factory, output: output.NewFlag(output.Table, output.Wide, output.JSON, output.YAML),
	}
	cmd := &cobra.Command{
		Use:               "resources [NAME]",
		Aliases:           []string{"resource", "clusterresources", "bcr"},
		Short:             "Show what is left in the pools of ClusterResources",
		Long:              resourcesLong,
		Example:           resourcesExample,
		Args:              objects.AtMostOneName,
		ValidArgsFunction: factory.Complete(resourceNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args)
		},
	}
	o.output.AddTo(cmd)
	return cmd
}

func (o *resourcesOptions) run(ctx context.Context, args []string) error {
	objects, err := o.read(ctx)
	if err != nil {
		return err
	}
	if len(args) > 0 {
		i := slices.IndexFunc(objects, func(r berthv1alpha1.ClusterResource) bool { return r.Name == args[0] })
		if i < 0 {
			return fmt.Errorf("cluster resource %.64q not found", args[0])
		}
		objects = objects[i : i+1]
	}
	found := resources{Items: make([]resourceItem, len(objects))}
	for i := range objects {
		found.Items[i] = itemOf(&objects[i])
	}
	if o.output.ForPeople() {
		printResourceNotes(o.streams.ErrOut, &found, len(args) > 0)
	}
	return o.output.Print(o.streams.Out, found, func(w io.Writer) error {
		return output.Rows(w, o.output.Wide(), resourceColumns, resourceRows(&found))
	})
}

func (o *resourcesOptions) read(ctx context.Context) ([]berthv1alpha1.ClusterResource, error) {
	clients, err := o.factory.Clients()
	if err != nil {
		return nil, err
	}
	return live.ReadClusterResources(ctx, clients)
}

// resourceNames returns the names of all ClusterResources.
func resourceNames(ctx context.Context, clients client.Clients, _ string) ([]string, error) {
	objects, err := live.ReadClusterResources(ctx, clients)
	if err != nil {
		return nil, err
	}
	return client.NamesOf(objects), nil
}

func itemOf(object *berthv1alpha1.ClusterResource) resourceItem {
	status := &object.Status
	item := resourceItem{
		Name: object.Name, Mode: string(object.Spec.Mode), Deleting: object.DeletionTimestamp != nil,
		Waiting: status.Waiting, TopNamespaces: status.TopNamespaces, Pools: poolsOf(status),
		outdated: status.ObservedGeneration != object.Generation || len(status.Conditions) == 0,
	}
	if item.Mode == "" {
		item.Mode = string(berthv1alpha1.AnyOf)
	}
	if c := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.ClusterResourceReady); c != nil {
		item.Ready, item.Message = c.Status == metav1.ConditionTrue, c.Message
	}
	if c := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.ClusterResourceOvercommitted); c != nil &&
		c.Status == metav1.ConditionTrue {
		item.Overcommitted, item.over = true, c.Message
	}
	if c := apimeta.FindStatusCondition(status.Conditions, berthv1alpha1.ClusterResourceInUse); c != nil {
		item.inUse = c.Message
	}
	return item
}

// poolsOf returns the pools in the order of their declaration, and then those that are declared no
// more.
func poolsOf(status *berthv1alpha1.ClusterResourceStatus) []poolItem {
	pools := make([]poolItem, 0, len(status.Capacity))
	at := func(name string) *poolItem {
		i := slices.IndexFunc(pools, func(p poolItem) bool { return p.Name == name })
		if i < 0 {
			i = len(pools)
			pools = append(pools, poolItem{Name: name})
		}
		return &pools[i]
	}
	for i := range status.Capacity {
		declared := &status.Capacity[i]
		p := at(declared.Name)
		p.Capacity, p.NodeSelector = &declared.Quantity, declared.NodeSelector
	}
	for i := range status.Allocatable {
		declared := &status.Allocatable[i]
		p := at(declared.Name)
		p.Allocatable, p.NodeSelector = &declared.Quantity, declared.NodeSelector
	}
	for _, allocated := range status.Allocated {
		p := at(allocated.Name)
		p.Allocated, p.Free, p.Holders = allocated.Quantity, allocated.Free, allocated.Holders
	}
	return pools
}
