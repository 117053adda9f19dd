// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package accounts writes what users list with the rights of a ServiceAccount of their namespace,
// by impersonation. To impersonate an account is a right that each namespace gives for itself.
package accounts

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"berth.dev/berth/pkg/model/rights"
)

const (
	// clients is how many clients are kept.
	clients = 1000
	// validity is how long it counts what was found of an account: that it exists, or that Berth may
	// not impersonate it.
	validity = 10 * time.Second
)

// Options are what Accounts needs.
type Options struct {
	// Config is how Berth itself reaches the API server. Its QPS and Burst limit all accounts
	// together.
	Config *rest.Config
	// Client are the scheme and the mapper of the clients.
	Client client.Options
	// Live reads ServiceAccounts from the API server.
	Live client.Reader
	// Default is the name of the account that writes where none is named.
	Default string
	// Clock tells when it is time to look again whether an account exists.
	Clock clock.PassiveClock
}

// Accounts has the clients of ServiceAccounts. It is safe for concurrent use.
type Accounts struct {
	options Options

	mu    sync.Mutex
	known *lru.Cache // of *entry by types.NamespacedName
}

// entry is what was found of an account.
type entry struct {
	account *Account
	found   time.Time
	// refusal is why Berth may not impersonate it, nil if it may as far as is known.
	refusal *Refusal
}

// New returns Accounts.
func New(options Options) *Accounts {
	options.Config = rest.CopyConfig(options.Config)
	options.Config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(options.Config.QPS, options.Config.Burst)
	return &Accounts{options: options, known: lru.New(clients)}
}

// Of returns the account of a namespace with this name, or the default one if the name is empty.
// The error is a *Refusal if there is none, or if Berth was refused to impersonate it a moment ago.
func (a *Accounts) Of(ctx context.Context, namespace, name string) (*Account, error) {
	if name == "" {
		name = a.options.Default
	}
	key := types.NamespacedName{Namespace: namespace, Name: name}
	now := a.options.Clock.Now()
	known := a.find(key)
	switch {
	case known == nil || now.Sub(known.found) >= validity:
	case known.refusal != nil:
		return nil, known.refusal
	default:
		return known.account, nil
	}
	if err := a.check(ctx, key); err != nil {
		return nil, err
	}
	if known != nil {
		a.keep(key, &entry{account: known.account, found: now})
		return known.account, nil
	}
	made, err := a.newClient(key)
	if err != nil {
		return nil, err
	}
	account := &Account{Client: made, Namespace: namespace, Name: name}
	account.refused = func(refusal *Refusal) {
		a.keep(key, &entry{account: account, found: a.options.Clock.Now(), refusal: refusal})
	}
	a.keep(key, &entry{account: account, found: now})
	return account, nil
}

func (a *Accounts) find(key types.NamespacedName) *entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	found, _ := a.known.Get(key)
	known, _ := found.(*entry)
	return known
}

func (a *Accounts) keep(key types.NamespacedName, e *entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known.Add(key, e)
}

// check returns a Refusal if the account does not exist. Otherwise the API server would take its
// name for it.
func (a *Accounts) check(ctx context.Context, key types.NamespacedName) error {
	err := a.options.Live.Get(ctx, key, &corev1.ServiceAccount{})
	switch {
	case apierrors.IsNotFound(err):
		return &Refusal{Text: fmt.Sprintf("there is no ServiceAccount %s in namespace %s to write as", key.Name, key.Namespace)}
	case err != nil:
		return fmt.Errorf("reading ServiceAccount %s: %w", key, err)
	}
	return nil
}

func (a *Accounts) newClient(key types.NamespacedName) (client.Client, error) {
	config := rest.CopyConfig(a.options.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: rights.Username(key.Namespace, key.Name)}
	made, err := client.New(config, a.options.Client)
	if err != nil {
		return nil, fmt.Errorf("making a client for ServiceAccount %s: %w", key, err)
	}
	return made, nil
}
