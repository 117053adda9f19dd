// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// object is a part of an object of the API.
type object = map[string]any

// patch returns a merge patch, which does not care who else writes.
func patch(change object) []byte {
	text, err := json.Marshal(change)
	if err != nil {
		panic(err) // it is made of strings, numbers and types of the API
	}
	return text
}

func (c *chaos) planScale() (what string, do func(context.Context) error) {
	name, replicas := c.apps[c.rng.IntN(len(c.apps))], c.between(0, 2*each)
	return fmt.Sprintf("%s is scaled to %d", name, replicas), func(ctx context.Context) error {
		_, err := c.client.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType,
			patch(object{"spec": object{"replicas": replicas}}), metav1.PatchOptions{})
		return err
	}
}

func (c *chaos) planEdit() (what string, do func(context.Context) error) {
	name, weights := c.policies[c.rng.IntN(len(c.policies))], c.weights()
	return "the policy of " + name + " is edited", func(ctx context.Context) error {
		_, err := c.berth.BerthV1alpha1().PropagationPolicies(namespace).Patch(ctx, name, types.MergePatchType,
			patch(object{"spec": object{"placement": object{"staticWeightList": weights}}}), metav1.PatchOptions{})
		return err
	}
}

func (c *chaos) planResize() (what string, do func(context.Context) error) {
	name := []string{licence, rack}[c.rng.IntN(2)]
	capacity := c.capacity(name)
	return "the pools of " + name + " are resized", func(ctx context.Context) error {
		_, err := c.berth.BerthV1alpha1().ClusterResources().Patch(ctx, name, types.MergePatchType,
			patch(object{"spec": object{"capacity": capacity}}), metav1.PatchOptions{})
		return err
	}
}

func (c *chaos) planDeletion() (what string, do func(context.Context) error) {
	name := c.apps[c.rng.IntN(len(c.apps))]
	return "all pods of " + name + " are deleted", func(ctx context.Context) error {
		return c.client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=" + name})
	}
}

// planLoss has a node go, and come back, or another one of its site.
func (c *chaos) planLoss() (what string, do func(context.Context) error) {
	site, away, again := siteName(c.rng.IntN(sites)), time.Duration(c.between(1, 50))*time.Second, c.rng.IntN(3) > 0
	return fmt.Sprintf("a node of %s is away for %s, and comes again: %t", site, away, again), func(ctx context.Context) error {
		list, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: siteLabel + "=" + site})
		if err != nil || len(list.Items) < 2 {
			return err
		}
		name := list.Items[0].Name
		if err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if !again {
			name = site + "-" + list.Items[0].Name[len(site)+1:] + "9"
		}
		c.afterwards(away, "node "+name+" comes", func(ctx context.Context) error {
			return ignoreExisting(c.createNode(ctx, name))
		})
		return nil
	}
}

func ignoreExisting(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// planFourth adds a Scheduler, or takes the one out of service that was added before.
func (c *chaos) planFourth() (what string, do func(context.Context) error) {
	return "a fourth Scheduler comes or goes", func(ctx context.Context) error {
		c.comingOrGoing.Lock()
		defer c.comingOrGoing.Unlock()
		if c.fourth == nil {
			var err error
			c.fourth, err = c.scheduler(c.alive, fmt.Sprint("d", len(c.all())))
			return err
		}
		leaving := c.fourth
		c.fourth = nil
		name := leaving.name[len("scheduler-"):]
		if err := c.berth.BerthV1alpha1().Schedulers().Delete(ctx, name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			c.fourth = leaving
			return err
		}
		c.afterwards(20*time.Second, leaving.name+" ends", func(context.Context) error {
			c.retire(leaving)
			return nil
		})
		return nil
	}
}
