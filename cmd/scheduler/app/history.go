// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/utils/clock"

	"berth.dev/berth/cmd/internal/remember"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/plugins"
)

// remembering says where it is served what this process has decided.
type remembering struct {
	address string
	ring    *history.Ring
}

func (r *remembering) addFlags(flags *pflag.FlagSet) { remember.AddFlag(flags, &r.address) }

// begin has the plugins remember what they decide. It must be called before they are made.
func (r *remembering) begin(state *plugins.State) {
	if r.address == "" {
		return
	}
	r.ring = history.New(history.DefaultLimits(), clock.RealClock{})
	state.History = history.NewBackground(r.ring)
}

var errNoSecurePort = errors.New("--" + remember.Flag + " needs --secure-port, whose certificate it uses")

// serve serves what is remembered, if anything is, until the context ends.
func (r *remembering) serve(ctx context.Context, cc *schedulerconfig.CompletedConfig) error {
	switch {
	case r.ring == nil:
		return nil
	case cc.SecureServing == nil:
		return errNoSecurePort
	}
	h := remember.Handler(leaseName, r.ring)
	h.Authenticator, h.Authorizer = cc.Authentication.Authenticator, cc.Authorization.Authorizer
	return h.Start(ctx, r.address, cc.SecureServing)
}
