// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"

	"github.com/spf13/pflag"
	schedulerconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
	"k8s.io/utils/clock"

	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
	"berth.dev/berth/pkg/plugins"
)

// remembering says where it is served what this process has decided.
type remembering struct {
	address string
	ring    *history.Ring
}

// addFlags adds the flag. Empty, its default, means that nothing is remembered.
func (r *remembering) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&r.address, serve.Flag, r.address, serve.FlagUsage)
}

// begin has the plugins remember what they decide. It must be called before they are made.
func (r *remembering) begin(state *plugins.State) {
	if r.address == "" {
		return
	}
	r.ring = history.New(history.DefaultLimits(), clock.RealClock{})
	state.History = history.NewBackground(r.ring)
}

var errNoSecurePort = errors.New("--" + serve.Flag + " needs --secure-port, whose certificate it uses")

// serve serves what is remembered, if anything is, until the context ends.
func (r *remembering) serve(ctx context.Context, cc *schedulerconfig.CompletedConfig) error {
	switch {
	case r.ring == nil:
		return nil
	case cc.SecureServing == nil:
		return errNoSecurePort
	}
	h := &serve.Handler{
		Process: serve.ProcessName(leaseName), Ring: r.ring,
		Authenticator: cc.Authentication.Authenticator, Authorizer: cc.Authorization.Authorizer,
	}
	return h.Start(ctx, r.address, cc.SecureServing)
}
