// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"berth.dev/berth/pkg/localplane"
	"berth.dev/berth/test/internal/proxy"
)

// restartPause is how long a program that has ended stays away, as with a kubelet.
const restartPause = time.Second

// election makes a process that has died count as dead within seconds.
var election = []string{
	"--v=2", "--leader-elect-lease-duration=15s", "--leader-elect-renew-deadline=12s", "--leader-elect-retry-period=1s",
}

// program is one of Berth's, which is started again whenever it ends.
type program struct {
	name  string
	proxy *proxy.Proxy
	start func(context.Context) (*localplane.Process, error)

	mu      sync.Mutex
	process *localplane.Process
	// until is when it may start again.
	until  time.Time
	starts int
	gone   chan struct{}
}

// newProgram starts a proxy for a program, which speaks to the API servers as a ServiceAccount, and
// returns the program with the path of a kubeconfig for it.
func (c *chaos) newProgram(ctx context.Context, name, account string) (*program, string, error) {
	user, groups := localplane.ServiceAccountIdentity(localplane.BerthNamespace, account)
	config, err := c.plane.UserConfig(user, groups...)
	if err != nil {
		return nil, "", err
	}
	config.Dial = c.dial
	between, err := proxy.Start(ctx, config)
	if err != nil {
		return nil, "", err
	}
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["proxy"] = &clientcmdapi.Cluster{Server: between.Address()}
	kubeconfig.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	kubeconfig.CurrentContext = "proxy"
	path := filepath.Join(c.plane.StateDir(), name+"-proxy.kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, path); err != nil {
		return nil, "", fmt.Errorf("writing the kubeconfig of %s: %w", name, err)
	}
	return &program{name: name, proxy: between, gone: make(chan struct{})}, path, nil
}

// scheduler starts a named Scheduler, and keeps it running.
func (c *chaos) scheduler(ctx context.Context, name string) (*program, error) {
	p, kubeconfig, err := c.newProgram(ctx, "scheduler-"+name, localplane.BerthScheduler)
	if err != nil {
		return nil, err
	}
	args := append([]string{
		"--scheduler-name=" + name, "--master=" + p.proxy.Address(),
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	}, election...)
	p.start = func(ctx context.Context) (*localplane.Process, error) {
		process, _, err := c.plane.StartScheduler(ctx, c.shipped, localplane.Component{Name: p.name, Args: args, MayEnd: true})
		return process, err
	}
	c.keep(ctx, p)
	return p, nil
}

// controllers starts a replica of the controllers, and keeps it running.
func (c *chaos) controllers(ctx context.Context, name string) (*program, error) {
	p, kubeconfig, err := c.newProgram(ctx, "controllers-"+name, localplane.BerthControllerManager)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--kubeconfig=" + kubeconfig}, election...)
	p.start = func(ctx context.Context) (*localplane.Process, error) {
		return c.plane.StartControllerManager(ctx, localplane.Component{Name: p.name, Args: args, MayEnd: true})
	}
	c.keep(ctx, p)
	return p, nil
}

// keep has a program run until the context ends, or it is retired.
func (c *chaos) keep(ctx context.Context, p *program) {
	c.mu.Lock()
	c.programs = append(c.programs, p)
	c.mu.Unlock()
	c.tasks.Go(func() {
		defer func() { _ = p.proxy.Stop() }() // nobody is left who would use it
		for {
			process, err := p.start(ctx)
			if err != nil {
				if ctx.Err() == nil {
					c.fail(err)
				}
				return
			}
			p.mu.Lock()
			p.process = process
			p.starts++
			p.mu.Unlock()
			select {
			case <-process.Done():
			case <-ctx.Done():
				return
			}
			if !p.rest(ctx) {
				return
			}
		}
	})
}

// rest waits until the program may start again, and reports whether it is to.
func (p *program) rest(ctx context.Context) bool {
	for wait := restartPause; wait > 0; {
		select {
		case <-ctx.Done():
			return false
		case <-p.gone:
			return false
		case <-time.After(min(wait, 100*time.Millisecond)):
		}
		wait -= 100 * time.Millisecond
		p.mu.Lock()
		wait = max(wait, time.Until(p.until))
		p.mu.Unlock()
	}
	return true
}

// kill ends the program without a word to anybody, and keeps it away for some time.
func (p *program) kill(away time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(away)
	if p.process != nil {
		_ = p.process.Kill(syscall.SIGKILL) // one that has ended already is as good
	}
}

// retire ends a program for good.
func (c *chaos) retire(p *program) {
	c.mu.Lock()
	c.programs = slices.DeleteFunc(c.programs, func(other *program) bool { return other == p })
	c.mu.Unlock()
	close(p.gone)
	p.kill(0)
}

// signal sends a signal to the process that runs now.
func (p *program) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil {
		_ = p.process.Kill(s) // one that has ended needs none
	}
}

// calm lets the program work undisturbed again.
func (p *program) calm() {
	p.proxy.Disturb(nil)
	p.proxy.CutOff(false)
	p.proxy.Stall(false)
	p.signal(syscall.SIGCONT)
	p.mu.Lock()
	p.until = time.Time{}
	p.mu.Unlock()
}

// fates returns what becomes of the requests of a program in a storm.
func fates(seed uint64, name string, often float64) func(*http.Request) proxy.Fate {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, hash(name))) //nolint:gosec // it is to be the same every time
	return func(r *http.Request) proxy.Fate {
		mu.Lock()
		defer mu.Unlock()
		if source.Float64() >= often {
			return proxy.Fate{}
		}
		fate := proxy.Fate{Answer: proxy.Answer(source.IntN(proxy.Answers)), Lost: source.IntN(3) == 0}
		if longest := 3 * time.Second; source.IntN(2) == 0 {
			if source.IntN(6) == 0 {
				longest = 15 * time.Second
			}
			fate.Delay = time.Duration(source.Int64N(int64(longest)))
		}
		return fate
	}
}
