// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/metricsources"
)

// outlet is the connection to a provider. Only one goroutine at a time, the one that has set busy,
// uses source.
type outlet struct {
	busy atomic.Bool
	// again is set if something new could not be read because of that.
	again   atomic.Bool
	breaker *metricsources.Breaker

	source      metricsources.Source
	generation  int64
	credentials *metricsources.Credentials
}

// outlet returns the connection to a provider.
func (s *Sampler) outlet(uid types.UID) *outlet {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, found := s.outlets[uid]
	if !found {
		o = &outlet{breaker: metricsources.NewBreaker(s.options.Clock, s.options.Interval, longestPause)}
		s.outlets[uid] = o
	}
	return o
}

func (s *Sampler) keepOutlets(providers map[types.UID]struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.outlets {
		if _, exists := providers[uid]; !exists {
			delete(s.outlets, uid)
		}
	}
}

// open returns the source of a provider, the one of the last round unless something has changed.
func (o *outlet) open(ctx context.Context, options *Options, p *provider) (metricsources.Source, *metricsources.Error) {
	credentials, failed := credentialsOf(ctx, options, p)
	if failed != nil {
		return nil, failed
	}
	if o.source != nil && o.generation == p.object.GetGeneration() && reflect.DeepEqual(o.credentials, credentials) {
		return o.source, nil
	}
	settings := metricsources.Options{Guard: options.Guard, PlainHTTP: options.PlainHTTP, Credentials: credentials}
	if p.object.GetNamespace() != "" {
		settings.AllowHost = options.AllowHost
	}
	source, err := metricsources.New(p.spec, settings)
	if err != nil {
		var known *metricsources.Error
		if !errors.As(err, &known) {
			known = &metricsources.Error{Reason: berthv1alpha1.ReasonInvalidProvider, Message: "the provider cannot be used", Provider: true}
		}
		return nil, known
	}
	// A provider that was changed may work now.
	o.breaker.Done(nil)
	o.source, o.generation, o.credentials = source, p.object.GetGeneration(), credentials
	return source, nil
}

// credentialsOf reads the Secret of a provider.
func credentialsOf(ctx context.Context, options *Options, p *provider) (*metricsources.Credentials, *metricsources.Error) {
	if p.secret == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	err := options.Secrets.Get(ctx, client.ObjectKey{Namespace: options.Namespace, Name: p.secret}, secret)
	missing := &metricsources.Error{Reason: berthv1alpha1.ReasonMissingCredentials, Provider: true}
	switch {
	case apierrors.IsNotFound(err):
		missing.Message = "the Secret with the credentials does not exist in the namespace for credentials, " + options.Namespace
		return nil, missing
	case err != nil:
		missing.Message = "the Secret with the credentials cannot be read"
		return nil, missing
	}
	found := &metricsources.Credentials{
		Token: string(secret.Data["token"]), Username: string(secret.Data[corev1.BasicAuthUsernameKey]),
		Password: string(secret.Data[corev1.BasicAuthPasswordKey]),
	}
	if found.Token == "" && found.Username == "" {
		missing.Message = "the Secret with the credentials has neither token nor username"
		return nil, missing
	}
	return found, nil
}
