// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/client-go/kubernetes/scheme"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/chaos/judge"
)

// registry is where the API server stores everything.
const registry = "/registry/"

// follow tells the judge of every revision in etcd, from the first one on, until the context ends.
// The error is why it could not.
func follow(ctx context.Context, plane *localplane.ControlPlane, see func(judge.Change)) error {
	config, err := plane.EtcdTLS()
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{plane.EtcdURL()}, TLS: config, Logger: zap.NewNop(), DialKeepAliveTime: 5 * time.Second,
	})
	if err != nil {
		return fmt.Errorf("making a client of etcd: %w", err)
	}
	defer client.Close()
	for answer := range client.Watch(ctx, registry, clientv3.WithPrefix(), clientv3.WithRev(1)) {
		if err := answer.Err(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("following etcd: %w", err)
		}
		for _, event := range answer.Events {
			change, err := read(event)
			if err != nil {
				return err
			}
			see(change)
		}
	}
	if ctx.Err() == nil {
		return errors.New("following etcd: the watch has ended")
	}
	return nil
}

// read returns what an event of etcd says.
func read(event *clientv3.Event) (judge.Change, error) {
	key := strings.TrimPrefix(string(event.Kv.Key), registry)
	key = strings.TrimPrefix(key, berthv1alpha1.GroupName+"/")
	if rest, found := strings.CutPrefix(key, "minions/"); found {
		key = "nodes/" + rest
	}
	change := judge.Change{Name: key, Revision: event.Kv.ModRevision}
	if event.Type == clientv3.EventTypeDelete {
		return change, nil
	}
	kind, _, _ := strings.Cut(key, "/")
	var err error
	switch kind {
	case "pods", "nodes", "deployments":
		change.Object, _, err = scheme.Codecs.UniversalDeserializer().Decode(event.Kv.Value, nil, nil)
	case "propagationpolicies":
		policy := &berthv1alpha1.PropagationPolicy{}
		err, change.Object = json.Unmarshal(event.Kv.Value, policy), policy
	case "clusterresources":
		resource := &berthv1alpha1.ClusterResource{}
		err, change.Object = json.Unmarshal(event.Kv.Value, resource), resource
	default:
		change.Object = struct{}{}
	}
	if err != nil {
		return change, fmt.Errorf("reading %s of revision %d: %w", key, event.Kv.ModRevision, err)
	}
	return change, nil
}
