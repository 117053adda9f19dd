// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui holds the command that shows Berth in a browser.
package ui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"berth.dev/berth/pkg/cli/check"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/profile"
	"berth.dev/berth/pkg/cli/internal/remedies"
	"berth.dev/berth/pkg/explain/remedy"
	"berth.dev/berth/pkg/ui"
)

const long = `Show Berth in a browser: sites with what they should run and do, pools with their holders, applications with their
ranking and moves, waiting pods by reason, and a page for each of them that says why. The pages follow all changes.
A further view shows what berthctl check finds and, with --prometheus, the alerts that are raised.

They are served on this machine only, as long as the command runs, and show what you may read: whoever can open
connections on this machine sees it, as with kubectl proxy. Nothing can be changed there. With --namespace, or if you may not
list the pods of all namespaces, they show one namespace; the pages let you choose another one.`

const example = `  # Open the address that it prints in a browser
  berthctl ui

  # Always at the same address
  berthctl ui --port 8090

  # With the alerts of a Prometheus of the Prometheus operator
  berthctl ui --prometheus monitoring/prometheus-operated`

const (
	headerTimeout  = 5 * time.Second
	idleTimeout    = 60 * time.Second
	maxHeaderBytes = 16 << 10

	// maxNamespaces bounds how many namespaces are watched at once, and all of them.
	maxNamespaces = 8

	// maxPort is the highest port there is.
	maxPort = 1<<16 - 1
)

// options are the flags.
type options struct {
	streams genericiooptions.IOStreams
	factory *client.Factory
	address string
	port    int
	profile profile.Flags
	// prometheus is where the alerts are that pages show, empty for nowhere.
	prometheus string
}

// NewCommand returns the command ui.
func NewCommand(streams genericiooptions.IOStreams, factory *client.Factory) *cobra.Command {
	o := &options{streams: streams, factory: factory}
	cmd := &cobra.Command{
		Use: "ui", Short: "Show sites, pools, subscriptions, applications, waiting pods and alerts in a browser", Long: long, Example: example,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.Flags().Changed("namespace"))
		},
	}
	cmd.Flags().StringVar(&o.address, "address", "127.0.0.1", "loopback address to serve on")
	cmd.Flags().IntVar(&o.port, "port", 0, "port to serve on, 0 for any that is free")
	cmd.Flags().StringVar(&o.prometheus, "prometheus", "", prometheusUsage)
	o.profile.AddTo(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, namespaced bool) error {
	address, err := o.listenAddress()
	if err != nil {
		return err
	}
	clients, err := o.factory.Clients()
	if err != nil {
		return err
	}
	read, err := o.clients(clients)
	if err != nil {
		return err
	}
	namespace, err := o.namespace(ctx, clients, namespaced)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	server := &http.Server{
		Handler:           onlyHere(o.handler(ctx, read, namespace)),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	fmt.Fprintf(o.streams.Out, "Berth is at http://%s%s until you press Ctrl-C.\n", listener.Addr(), ui.Prefix)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

// listenAddress refuses addresses that others can reach. A name could mean any address by the time
// it is looked up.
func (o *options) listenAddress() (string, error) {
	if o.port < 0 || o.port > maxPort {
		return "", fmt.Errorf("--port: %d is not between 0 and %d", o.port, maxPort)
	}
	if o.address == "localhost" {
		o.address = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(o.address)
	if err != nil || !ip.IsLoopback() {
		return "", fmt.Errorf("--address: %.64q is no loopback address such as 127.0.0.1", o.address)
	}
	return net.JoinHostPort(ip.String(), strconv.Itoa(o.port)), nil
}

// namespace returns which namespace is shown first, empty for all of them. It fails if nothing can
// be read at all.
func (o *options) namespace(ctx context.Context, clients client.Clients, namespaced bool) (string, error) {
	_, err := clients.Berth.BerthV1alpha1().Clusters().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil && !apierrors.IsForbidden(err) {
		return "", client.DescribeBerthError("listing clusters", err)
	}
	if namespaced {
		return o.factory.Namespace()
	}
	_, err = clients.Kubernetes.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: 1})
	if !apierrors.IsForbidden(err) {
		return metav1.NamespaceAll, client.DescribeError("listing pods", err)
	}
	namespace, err := o.factory.Namespace()
	if err == nil {
		fmt.Fprintf(o.streams.ErrOut, "You may not list the pods of all namespaces, so those of namespace %q are shown.\n", namespace)
	}
	return namespace, err
}

func (o *options) handler(ctx context.Context, clients ui.Clients, namespace string) http.Handler {
	sources := &ui.Sources{Most: maxNamespaces, MostEach: maxNamespaces}
	// The name is new in each run: a browser must not show what was chosen in another one.
	pages := &ui.Handler{Done: ctx.Done(), NamespaceCookie: "berth-namespace-" + rand.Text()[:8]}
	pages.Find = func(w http.ResponseWriter, r *http.Request) *ui.Viewer {
		chosen := pages.NamespaceOf(r, namespace)
		source, err := sources.Get(ctx, ui.Key{Namespace: chosen}, func(ctx context.Context) (*ui.Source, error) {
			return ui.NewSource(ctx, clients, chosen, o.profile.Schedulers())
		})
		if err != nil {
			ui.WriteBusy(w, r, err)
			return nil
		}
		return &ui.Viewer{Source: source, Namespaced: true}
	}
	mux := http.NewServeMux()
	mux.Handle("/{$}", http.RedirectHandler(ui.Prefix, http.StatusFound))
	mux.Handle(ui.Prefix, pages)
	return mux
}

// clients are those by which the pages read.
func (o *options) clients(clients client.Clients) (ui.Clients, error) {
	read := ui.Clients{
		Kubernetes: clients.Kubernetes, Berth: clients.Berth, Config: clients.Config, Remedies: o.remedies(clients), Checks: checks(clients),
	}
	ask, err := prometheus(clients, o.prometheus)
	if ask != nil {
		read.Alerts = alertsBy(ask)
	}
	return read, err
}

// remedies returns what tries what would let a pod run.
func (o *options) remedies(clients client.Clients) func(ctx context.Context, namespace, name string) (*ui.Remedies, error) {
	return func(ctx context.Context, namespace, name string) (*ui.Remedies, error) {
		found, err := remedies.Of(ctx, clients, &o.profile, namespace, name)
		if err != nil {
			return nil, err
		}
		told := &ui.Remedies{Heading: remedy.Heading, Says: found.Says()}
		for i := range found.Remedies {
			r := &found.Remedies[i]
			told.Rows = append(told.Rows, ui.Remedy{Cluster: r.Cluster, Node: r.Node, Change: strings.Join(r.Changes, ", and ")})
		}
		return told, nil
	}
}

// checks returns what makes the checks of berthctl check.
func checks(clients client.Clients) func(context.Context) *ui.Checks {
	return func(ctx context.Context) *ui.Checks {
		found, made := check.Find(ctx, clients)
		told := &ui.Checks{Count: made}
		for _, f := range found {
			told.Findings = append(told.Findings, ui.Finding{ID: f.ID, Category: f.Category, Failed: f.Failed, Says: f.Text})
		}
		return told
	}
}

// onlyHere refuses requests that were sent to another name than this machine's own: a page of
// somebody else's whose name has come to mean a loopback address must not read what is shown here.
func onlyHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		ip, err := netip.ParseAddr(host)
		if (err != nil || !ip.IsLoopback()) && !strings.EqualFold(host, "localhost") {
			http.Error(w, "this address is served to this machine only", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
