// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package past

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/history/serve"
)

// bindFlag begins the argument by which a program says where it serves its history.
const bindFlag = "--" + serve.Flag + "="

// targets returns what is to be asked: the URLs of the flags, or else the pods of Berth.
func (f *Sources) targets(ctx context.Context, clients client.Clients) ([]target, error) {
	if len(f.from) > 0 {
		return f.named(clients.Config)
	}
	pods, err := clients.Kubernetes.CoreV1().Pods(berthv1alpha1.SystemNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, client.DescribeError("listing the pods of "+berthv1alpha1.SystemNamespace, err)
	}
	var found []target
	for i := range pods.Items {
		pod := &pods.Items[i]
		if port := servedAt(pod); port != "" {
			found = append(found, target{name: pod.Name, pod: true, reach: through(clients, pod, port)})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no pod of namespace %s is started with %sHOST:PORT, which history is asked of; "+
			"programs elsewhere, as in a playground, are named by --history-from", berthv1alpha1.SystemNamespace, bindFlag)
	}
	return found, nil
}

// servedAt returns the port at which a pod serves its history, empty if it does not.
func servedAt(pod *corev1.Pod) (port string) {
	for i := range pod.Spec.Containers {
		for _, arg := range pod.Spec.Containers[i].Args {
			if address, found := strings.CutPrefix(arg, bindFlag); found {
				_, port, _ = net.SplitHostPort(address)
			}
		}
	}
	return port
}

// through reaches a pod by a forwarded port. The API server leads to the pod, and what listens
// there has signed its certificate itself.
func through(clients client.Clients, pod *corev1.Pod, port string) func(context.Context) (*rest.Config, func(), error) {
	return func(ctx context.Context) (*rest.Config, func(), error) {
		if pod.Status.Phase != corev1.PodRunning {
			return nil, nil, fmt.Errorf("the pod does not run: it is %s", pod.Status.Phase)
		}
		transport, upgrader, err := spdy.RoundTripperFor(clients.Config)
		if err != nil {
			return nil, nil, fmt.Errorf("connecting: %w", err)
		}
		where := clients.Kubernetes.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
		dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, where)
		ready, failed := make(chan struct{}), make(chan error, 1)
		forwarding, cancel := context.WithCancel(ctx)
		forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:" + port}, forwarding.Done(), ready, io.Discard, io.Discard)
		if err != nil {
			cancel()
			return nil, nil, fmt.Errorf("forwarding port %s: %w", port, err)
		}
		go func() { failed <- forwarder.ForwardPorts() }()
		select {
		case <-ready:
		case err = <-failed:
			cancel()
			return nil, nil, fmt.Errorf("forwarding port %s, which takes the right to create pods/portforward: %w", port, err)
		case <-ctx.Done():
			cancel()
			return nil, nil, fmt.Errorf("forwarding port %s: %w", port, ctx.Err())
		}
		ports, err := forwarder.GetPorts()
		if err != nil || len(ports) != 1 {
			cancel()
			return nil, nil, fmt.Errorf("forwarding port %s: %w", port, err)
		}
		return own(clients.Config, fmt.Sprintf("https://127.0.0.1:%d", ports[0].Local)), cancel, nil
	}
}

// own returns a configuration for the URL with the credentials of another one, that checks no
// certificate and uses no proxy.
func own(config *rest.Config, host string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Host, config.APIPath = host, ""
	config.Insecure, config.ServerName, config.CAFile, config.CAData = true, "", "", nil
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // stands for no proxy
	return config
}

// named returns the programs that the flags name.
func (f *Sources) named(config *rest.Config) ([]target, error) {
	var authority []byte
	if f.authority != "" {
		var err error
		if authority, err = os.ReadFile(f.authority); err != nil {
			return nil, fmt.Errorf("--history-ca: %w", err)
		}
	}
	found := make([]target, len(f.from))
	for i, from := range f.from {
		host, err := f.parse(from)
		if err != nil {
			return nil, err
		}
		to := own(config, "https://"+host.Host)
		if authority != nil || !loopback(host) {
			to.Insecure, to.CAData = false, authority
		}
		found[i] = target{name: from, reach: func(context.Context) (*rest.Config, func(), error) { return to, func() {}, nil }}
	}
	return found, nil
}

// parse reads a URL of the flags. Credentials are sent there, so it must be one with TLS.
func (f *Sources) parse(from string) (*url.URL, error) {
	host, err := url.Parse(from)
	if err != nil || host.Scheme != "https" || host.Host == "" || strings.Trim(host.Path, "/") != "" || host.RawQuery != "" || host.User != nil {
		return nil, fmt.Errorf("--history-from: %.128q is no URL such as https://127.0.0.1:10263", from)
	}
	return host, nil
}

func loopback(host *url.URL) bool {
	ip, err := netip.ParseAddr(host.Hostname())
	return err == nil && ip.IsLoopback()
}
