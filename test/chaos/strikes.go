// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"berth.dev/berth/pkg/localplane"
)

// plans are what users, machines and networks do. Some come more often than others.
var plans = []struct {
	kind string
	// plan draws the details, and returns what to call it and what it does.
	plan func(*chaos) (string, func(context.Context) error)
}{
	{"scale", (*chaos).planScale},
	{"scale", (*chaos).planScale},
	{"scale", (*chaos).planScale},
	{"edit of a policy", (*chaos).planEdit},
	{"edit of a policy", (*chaos).planEdit},
	{"resize of pools", (*chaos).planResize},
	{"deletion of pods", (*chaos).planDeletion},
	{"lost node", (*chaos).planLoss},
	{"Scheduler comes or goes", (*chaos).planFourth},
	{"SIGKILL", (*chaos).planKill},
	{"SIGKILL", (*chaos).planKill},
	{"SIGSTOP", (*chaos).planStop},
	{"link stalled", (*chaos).planStall},
	{"link cut", (*chaos).planCut},
	{"connections severed", (*chaos).planSever},
	{"API server killed", (*chaos).planAPIServer},
}

func (c *chaos) anyProgram() *program {
	programs := c.all()
	return programs[c.rng.IntN(len(programs))]
}

func (c *chaos) seconds(low, high int) time.Duration {
	return time.Duration(c.between(low, high)) * time.Second
}

func (c *chaos) planKill() (what string, do func(context.Context) error) {
	p, away := c.anyProgram(), c.seconds(0, 20)
	return fmt.Sprintf("%s is killed, for %s", p.name, away), func(context.Context) error {
		p.kill(away)
		return nil
	}
}

func (c *chaos) planStop() (what string, do func(context.Context) error) {
	p, length := c.anyProgram(), c.seconds(1, 30)
	return fmt.Sprintf("%s is stopped for %s", p.name, length), func(context.Context) error {
		p.signal(syscall.SIGSTOP)
		c.afterwards(length, p.name+" goes on", func(context.Context) error {
			p.signal(syscall.SIGCONT)
			return nil
		})
		return nil
	}
}

func (c *chaos) planStall() (what string, do func(context.Context) error) {
	p, length := c.anyProgram(), c.seconds(1, 20)
	return fmt.Sprintf("the link of %s is stalled for %s", p.name, length), func(context.Context) error {
		p.proxy.Stall(true)
		c.afterwards(length, "the link of "+p.name+" works", func(context.Context) error {
			p.proxy.Stall(false)
			return nil
		})
		return nil
	}
}

// planCut keeps requests from coming through, and leaves the watches alone.
func (c *chaos) planCut() (what string, do func(context.Context) error) {
	p, length := c.anyProgram(), c.seconds(1, 30)
	return fmt.Sprintf("the requests of %s are cut off for %s", p.name, length), func(context.Context) error {
		p.proxy.CutOff(true)
		c.afterwards(length, p.name+" is heard again", func(context.Context) error {
			p.proxy.CutOff(false)
			return nil
		})
		return nil
	}
}

func (c *chaos) planSever() (what string, do func(context.Context) error) {
	p := c.anyProgram()
	return "the connections of " + p.name + " end", func(context.Context) error {
		p.proxy.Sever()
		return nil
	}
}

// planAPIServer has one of the API servers go.
func (c *chaos) planAPIServer() (what string, do func(context.Context) error) {
	name, away := []string{localplane.APIServer, localplane.APIServerReplica}[c.rng.IntN(2)], c.seconds(0, 15)
	return fmt.Sprintf("%s is killed, for %s", name, away), func(context.Context) error {
		c.endProcess(name)
		c.restart(away, name)
		return nil
	}
}

// planOutage has all API servers go.
func (c *chaos) planOutage(length time.Duration) (what string, do func(context.Context) error) {
	return fmt.Sprintf("no API server is there for %s", length), func(context.Context) error {
		for _, name := range []string{localplane.APIServer, localplane.APIServerReplica} {
			c.endProcess(name)
			c.restart(length, name)
		}
		return nil
	}
}

func (c *chaos) planEtcd() (what string, do func(context.Context) error) {
	away := c.seconds(0, 10)
	return fmt.Sprintf("etcd is killed, for %s", away), func(context.Context) error {
		c.endProcess(localplane.Etcd)
		c.restart(away, localplane.Etcd)
		return nil
	}
}

// restart has a component of Kubernetes come again.
func (c *chaos) restart(away time.Duration, name string) {
	c.afterwards(away, name+" comes again", func(context.Context) error { return c.startProcess(c.alive, name) })
}
