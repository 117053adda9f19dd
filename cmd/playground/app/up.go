// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"berth.dev/berth/cmd/playground/localnode"
	"berth.dev/berth/cmd/playground/world"
)

func newUpCommand(options *world.Options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the playground and keep it until Ctrl-C",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return up(cmd.Context(), *options, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&options.Empty, "empty", false,
		"start without Berth, to install it yourself: its Deployments in berth-system run as processes of this machine")
	return cmd
}

func up(ctx context.Context, options world.Options, out io.Writer) error {
	w, err := world.Start(ctx, options, out)
	if err != nil {
		return err
	}
	if options.Empty {
		printEmptyGuide(out, w)
	} else {
		printGuide(out, w)
	}
	var exited error
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "\nStopping.")
	case exited = <-w.Exited():
	}
	err = w.Stop()
	if exited != nil {
		// What ended first is the cause; Stop would name it once more.
		return exited
	}
	if err == nil && options.Keep {
		fmt.Fprintln(out, "The state is in", w.StateDir())
	}
	return err
}

// printEmptyGuide tells who wants to install Berth how.
func printEmptyGuide(out io.Writer, w *world.World) {
	ctl := short(filepath.Join(w.BinDir(), "berthctl"))
	fmt.Fprintf(out, `
Berth is not installed. In another terminal:

  export KUBECONFIG=%s

See whether it can be, and install it in the way you like; what runs in the namespace berth-system runs on this machine:

  %s check --pre

No kubelet forwards ports here, so name Berth's processes to ask what was decided when:

  %s explain deployment NAME --history $(cat %s/*)

Logs are in %s. Ctrl-C ends it all.
`, w.AdminKubeconfig(), ctl, ctl, short(filepath.Join(w.StateDir(), localnode.HistoryDir)), w.LogDir())
}

// printGuide tells a newcomer what to do next, with programs that this machine has.
func printGuide(out io.Writer, w *world.World) {
	apply, ctl := short(filepath.Join(w.BinDir(), "berth-playground"))+" apply", short(filepath.Join(w.BinDir(), "berthctl"))
	if _, err := exec.LookPath("kubectl"); err == nil {
		apply = "kubectl apply -f"
	}
	fmt.Fprintf(out, `
In another terminal:

  export KUBECONFIG=%s

Share 5 replicas out over beijing and hangzhou, 2 to 3:

  %s %s

See who runs where:

  %s get placement nginx

See why, and what was decided when:

  %s explain deployment nginx --history --history-from %s

Look at it in a browser:

  %s ui

Ask beforehand what other weights would do:

  %s preview division --replicas 7 --weights beijing=2,hangzhou=3

Let three schedulers share the clusters, each a process of its own, and see who has which:

  %s %s
  %s get bindings

List the clusters over REST, or register more of them:

  curl -sk -H "Authorization: Bearer $(cat %s)" %s

Logs are in %s. Ctrl-C ends it all.
`, w.AdminKubeconfig(), apply, short(w.Example()), ctl, ctl, strings.Join(w.HistoryURLs(), " --history-from "), ctl, ctl,
		apply, short(w.SchedulersExample()), ctl, w.TokenFile(), w.ClustersURL(), w.LogDir())
}

// short returns the path as one would type it here.
func short(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	relative, err := filepath.Rel(here, path)
	if err != nil || strings.HasPrefix(relative, "..") {
		return path
	}
	return relative
}
