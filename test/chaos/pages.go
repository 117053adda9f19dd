// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/proxy"
	"berth.dev/berth/test/internal/visitor"
)

const (
	// again is how long a page waits that was refused.
	again = time.Second
	// spare is how many files and goroutines a server may have more than before anybody looked:
	// connections to the API server come and go by themselves.
	spare = 10
	// closing is how long a server may take to forget that anybody looked.
	closing = 2 * time.Minute
)

// looked are the pages that are open, of each server the same.
var looked = []string{
	"sites", "pools", "applications", "waiting", "clusters/site0", "resources/" + licence, "health",
	"namespaces/" + namespace + "/workloads/deployment/app0",
}

// pages are those of berthctl ui, and those of the gateway, with what is open of them.
type pages struct {
	servers []*pageServer
	// link is between berthctl ui and the API servers, which it knows by the kubeconfig.
	link       *proxy.Proxy
	kubeconfig string
	// compared counts the calms at which what is shown was compared with the API.
	compared int
	watching sync.WaitGroup
	stop     context.CancelFunc
}

// pageServer is a program that serves pages.
type pageServer struct {
	name    string
	process *localplane.Process
	visitor visitor.Visitor
	// measured is set if it has metrics, which tell how many goroutines it has.
	measured bool
	// alone is what it took before the pages were opened, calms what it took at each calm.
	alone visitor.Usage
	calms []visitor.Usage
	// refused counts the answers that were none.
	refused atomic.Int64
	opened  []*http.Transport
}

// openPages starts the servers of pages, and opens as many pages as the options say.
func (c *chaos) openPages(ctx context.Context) error {
	if c.options.pages == 0 {
		return nil
	}
	c.pages = &pages{}
	if err := c.serveMine(ctx); err != nil {
		return err
	}
	if err := c.serveAll(ctx); err != nil {
		return err
	}
	for _, s := range c.pages.servers {
		err := localplane.Await(ctx, longest, c.plane.Exited(), func(ctx context.Context) error {
			_, err := s.visitor.Rows(ctx, "sites", "sites")
			return err
		})
		if err != nil {
			return err
		}
		if s.alone, err = s.usage(ctx); err != nil {
			return err
		}
		c.sayf("%s takes %s", s.name, s.alone)
	}
	watching, stop := context.WithCancel(ctx)
	c.pages.stop = stop
	for n := range c.options.pages {
		s := c.pages.servers[n%len(c.pages.servers)]
		page, transport := looked[n/len(c.pages.servers)%len(looked)], s.transport()
		c.pages.watching.Go(func() { s.watch(watching, page, transport) })
	}
	return nil
}

// serveMine starts berthctl ui, as the administrator, behind a proxy.
func (c *chaos) serveMine(ctx context.Context) error {
	config := c.plane.Config()
	config.Dial = c.dial
	var err error
	if c.pages.link, err = proxy.Start(ctx, config); err != nil {
		return err
	}
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["proxy"] = &clientcmdapi.Cluster{Server: c.pages.link.Address()}
	kubeconfig.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	kubeconfig.CurrentContext = "proxy"
	c.pages.kubeconfig = filepath.Join(c.plane.StateDir(), "pages-proxy.kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, c.pages.kubeconfig); err != nil {
		return fmt.Errorf("writing the kubeconfig of berthctl ui: %w", err)
	}
	s, err := c.startUI(ctx, "ui")
	if err == nil {
		c.pages.servers = append(c.pages.servers, s)
	}
	return err
}

// startUI starts berthctl ui.
func (c *chaos) startUI(ctx context.Context, name string) (*pageServer, error) {
	binaries, err := localplane.FindBinDir()
	if err != nil {
		return nil, err
	}
	port, err := localplane.FreePort()
	if err != nil {
		return nil, err
	}
	process, err := localplane.StartProcess(ctx, localplane.ProcessOptions{
		Name: name, Path: filepath.Join(binaries, "berthctl"), LogPath: filepath.Join(c.logs, name+".log"), Env: os.Environ(), MayEnd: true,
		Args: []string{"ui", "--port=" + strconv.Itoa(port), "--kubeconfig=" + c.pages.kubeconfig},
	})
	if err != nil {
		return nil, err
	}
	s := &pageServer{name: "berthctl ui", process: process}
	s.visitor = visitor.Visitor{Site: fmt.Sprintf("http://127.0.0.1:%d/ui/", port), Loads: &atomic.Int64{}}
	s.visitor.Client = &http.Client{Transport: s.transport(), Timeout: requestTimeout}
	return s, nil
}

// serveAll starts berth-gateway, which speaks to the first API server only.
func (c *chaos) serveAll(ctx context.Context) error {
	token, err := localplane.NewToken(ctx, c.client, "looks", "cluster-admin")
	if err != nil {
		return err
	}
	process, address, err := c.plane.StartGateway(ctx, localplane.Component{Name: "gateway"})
	if err != nil {
		return err
	}
	s := &pageServer{name: localplane.BerthGateway, process: process, measured: true}
	s.visitor = visitor.Visitor{Site: "https://" + address + "/ui/", Token: token, Loads: &atomic.Int64{}}
	s.visitor.Client = &http.Client{Transport: s.transport(), Timeout: requestTimeout}
	c.pages.servers = append(c.pages.servers, s)
	return nil
}

// transport returns one of its own for a page, as if it were open in another browser.
func (s *pageServer) transport() *http.Transport {
	t := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the gateway signs its certificate itself
	s.opened = append(s.opened, t)
	return t
}

// watch has a page open until the context ends. One that is refused is asked for again.
func (s *pageServer) watch(ctx context.Context, page string, transport *http.Transport) {
	v := s.visitor
	v.Page, v.Client = page, &http.Client{Transport: transport}
	for ctx.Err() == nil {
		if err := v.Follow(ctx); err == nil {
			continue
		}
		s.refused.Add(1)
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// usage returns what the server takes at present.
func (s *pageServer) usage(ctx context.Context) (visitor.Usage, error) {
	u, err := visitor.UsageOf(s.process.PID())
	if err == nil && s.measured {
		u.Goroutines, err = s.visitor.Goroutines(ctx)
	}
	return u, err
}

// closePages closes all pages. The servers must then take what they took before, but for memory,
// and have as many goroutines as one that was started just now.
func (c *chaos) closePages(ctx context.Context) error {
	if c.pages == nil {
		return nil
	}
	c.pages.stop()
	c.pages.watching.Wait()
	for _, s := range c.pages.servers {
		for _, t := range s.opened {
			t.CloseIdleConnections()
		}
		last := s.calms[len(s.calms)-1]
		err := localplane.Await(ctx, closing, c.plane.Exited(), func(ctx context.Context) error {
			now, err := s.usage(ctx)
			if err == nil && (now.Files > s.alone.Files+spare || now.Goroutines > s.alone.Goroutines+spare) {
				err = fmt.Errorf("%s takes %s, and took %s before anybody looked", s.name, now, s.alone)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
		c.sayf("%s: %d loads, %d refused; it took %s at the first calm, %s at the last", s.name, s.visitor.Loads.Load(), s.refused.Load(),
			s.calms[0], last)
	}
	return c.compareGoroutines(ctx)
}

// compareGoroutines ends berthctl ui so that it tells of its goroutines, and one that was started
// just now, of which one page was looked at.
func (c *chaos) compareGoroutines(ctx context.Context) error {
	old := c.pages.servers[0]
	fresh, err := c.startUI(ctx, "ui-fresh")
	if err != nil {
		return err
	}
	err = localplane.Await(ctx, longest, c.plane.Exited(), func(ctx context.Context) error {
		_, err := fresh.visitor.Rows(ctx, "sites", "sites")
		return err
	})
	if err != nil {
		return err
	}
	fresh.opened[0].CloseIdleConnections()
	have, err := goroutinesAtEnd(old.process)
	if err != nil {
		return err
	}
	want, err := goroutinesAtEnd(fresh.process)
	if err != nil {
		return err
	}
	c.sayf("berthctl ui has %d goroutines, and %d when it was started just now", have, want)
	if have > want+spare {
		return fmt.Errorf("%w: berthctl ui has %d goroutines, and %d when it was started just now", errBroken, have, want)
	}
	return nil
}

// goroutinesAtEnd ends a process with a signal at which Go programs write down their goroutines.
func goroutinesAtEnd(p *localplane.Process) (int, error) {
	if err := p.Kill(syscall.SIGQUIT); err != nil {
		return 0, err
	}
	<-p.Done()
	text, err := os.ReadFile(p.LogPath())
	if err != nil {
		return 0, fmt.Errorf("reading a log: %w", err)
	}
	return strings.Count(string(text), "\ngoroutine "), nil
}
