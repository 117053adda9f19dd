// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/test/chaos/judge"
)

// figures are what pages show, and what the API says of the same.
type figures struct {
	// Nodes and Pods are those of each site; of the pods those of workloads that a policy places.
	Nodes, Pods map[string]string
	// Held is how much is held of each pool.
	Held map[string]string
	// Waiting are the pods without a node.
	Waiting []string
}

// comparePages waits until no page contradicts the API, which is at rest, and notes what the
// servers take.
func (c *chaos) comparePages(ctx context.Context) error {
	if c.pages == nil {
		return nil
	}
	began, since := time.Now(), c.pace.Now()
	for _, s := range c.pages.servers {
		for ; ; pause(ctx) {
			if err := cmp.Or(c.wrong(ctx), c.startAPIServers(ctx)); err != nil {
				return err
			}
			difference := c.compare(ctx, s)
			if difference == "" {
				break
			}
			switch took := c.pace.Now().Sub(since); {
			case took > fits:
				c.dump(ctx)
				return fmt.Errorf("%w: %s contradicts the API %s after it has come to rest: %s", errBroken, s.name, took.Round(time.Second),
					difference)
			case time.Since(began) > longest:
				return fmt.Errorf("%w: %s in %s: %s", errTooSlow, took.Round(time.Second), longest, difference)
			}
		}
		now, err := s.usage(ctx)
		if err != nil {
			return err
		}
		s.calms = append(s.calms, now)
		c.sayf("%s shows what the API says after %s: %d loads, %d refused, %s", s.name, time.Since(began).Round(time.Second),
			s.visitor.Loads.Load(), s.refused.Load(), now)
	}
	c.pages.compared++
	return nil
}

// compare returns how what a server shows differs from what the API says, empty if it does not.
func (c *chaos) compare(ctx context.Context, s *pageServer) string {
	want, err := c.stored(ctx)
	if err != nil {
		return err.Error()
	}
	got, err := s.shown(ctx)
	if err != nil {
		return err.Error()
	}
	return gocmp.Diff(want, got)
}

// shown returns what a server shows.
func (s *pageServer) shown(ctx context.Context) (*figures, error) {
	f := &figures{Nodes: map[string]string{}, Pods: map[string]string{}, Held: map[string]string{}}
	const nodes, current = 3, 6
	rows, err := s.visitor.Rows(ctx, "sites", "sites")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		f.Nodes[row[0]], f.Pods[row[0]] = row[nodes], row[current]
	}
	const allocated = 4
	if rows, err = s.visitor.Rows(ctx, "pools", "pools"); err != nil {
		return nil, err
	}
	for _, row := range rows {
		f.Held[row[0]+"/"+row[1]] = row[allocated]
	}
	if rows, err = s.visitor.Rows(ctx, "waiting", "pods"); err != nil {
		return nil, err
	}
	for _, row := range rows {
		f.Waiting = append(f.Waiting, row[1])
	}
	slices.Sort(f.Waiting)
	return f, nil
}

// stored returns what the API says.
func (c *chaos) stored(ctx context.Context) (*figures, error) {
	f := &figures{}
	nodes, pods := map[string]int{}, map[string]int{}
	clusters, err := c.berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range clusters.Items {
		nodes[clusters.Items[i].Name], pods[clusters.Items[i].Name] = 0, 0
	}
	machines, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range machines.Items {
		nodes[machines.Items[i].Labels[siteLabel]]++
	}
	list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		switch pod := &list.Items[i]; {
		case pod.Spec.NodeName == "":
			f.Waiting = append(f.Waiting, pod.Name)
		case pod.DeletionTimestamp != nil: // It is leaving, and counted nowhere. Nobody removes it if kwok has lost it in a storm.
		case slices.Contains(c.policies, pod.Labels["app"]):
			pods[judge.SiteOf(pod.Spec.NodeName)]++
		}
	}
	slices.Sort(f.Waiting)
	f.Nodes, f.Pods = spelled(nodes), spelled(pods)
	f.Held, err = c.held(ctx)
	return f, err
}

// held returns how much is held of each pool. The judge has compared that with what pods hold.
func (c *chaos) held(ctx context.Context) (map[string]string, error) {
	resources, err := c.berth.BerthV1alpha1().ClusterResources().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for i := range resources.Items {
		r := &resources.Items[i]
		for _, pool := range r.Status.Allocatable {
			found[r.Name+"/"+pool.Name] = "0"
		}
		for _, pool := range r.Status.Allocated {
			found[r.Name+"/"+pool.Name] = strconv.FormatInt(pool.Quantity.Value(), 10)
		}
	}
	return found, nil
}

func spelled(counts map[string]int) map[string]string {
	texts := make(map[string]string, len(counts))
	for name, n := range counts {
		texts[name] = strconv.Itoa(n)
	}
	return texts
}
