// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package past asks Berth's programs what they have decided about an object.
package past

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"berth.dev/berth/pkg/cli/internal/client"
	"berth.dev/berth/pkg/cli/internal/output"
	"berth.dev/berth/pkg/history"
	"berth.dev/berth/pkg/history/serve"
)

const (
	// askTimeout bounds what one process takes.
	askTimeout = 15 * time.Second
	// maxBody bounds an answer, which is a part of the 16 MiB that a process keeps.
	maxBody = 64 << 20
	// maxError bounds the text of a refusal.
	maxError = 512
)

// Sources are the flags that say whether and where history is asked for.
type Sources struct {
	// Wanted is set if the history is to be told.
	Wanted bool

	from      []string
	authority string
}

// AddTo adds the flags.
func (f *Sources) AddTo(flags *pflag.FlagSet) {
	flags.BoolVar(&f.Wanted, "history", false,
		"tell what was decided before, as far as schedulers and controllers remember it")
	flags.StringArrayVar(&f.from, "history-from", nil,
		"URL of a program that is to be asked for it, such as https://127.0.0.1:10263, instead of the pods of berth-system; repeatable")
	flags.StringVar(&f.authority, "history-ca", "",
		"file with the certificate authority of these programs; on loopback addresses they may sign their certificates themselves")
}

// Answer is what one process said.
type Answer struct {
	history.Answer

	// Error says why the process could not be asked; the rest is empty then, but for its name.
	Error string `json:"error,omitempty"`
}

// Unheard reports whether no process could be asked, so that nothing is known of what they
// remember.
func Unheard(answers []Answer) bool {
	return !slices.ContainsFunc(answers, func(a Answer) bool { return a.Error == "" })
}

// Silence is what to add to the error for an object that does not exist and of which nothing was
// told.
func Silence(answers []Answer) string {
	switch {
	case len(answers) == 0:
		return ""
	case Unheard(answers):
		return ", and no process could be asked what it remembers: " + answers[0].Process + ": " + answers[0].Error
	default:
		return ", and no process remembers it"
	}
}

var (
	errImpersonation = errors.New("--history works with your own credentials, not with --as or --as-group")
	errNotWanted     = errors.New("--history-from and --history-ca go with --history")
)

// Check returns what is wrong with the flags.
func (f *Sources) Check() error {
	if !f.Wanted && (len(f.from) > 0 || f.authority != "") {
		return errNotWanted
	}
	for _, from := range f.from {
		if _, err := f.parse(from); err != nil {
			return err
		}
	}
	return nil
}

// Ask asks all processes about an object, one after the other. Those that cannot be asked say so in
// their answers. The error is for what concerns all of them.
func (f *Sources) Ask(ctx context.Context, clients client.Clients, object history.Object) ([]Answer, error) {
	if clients.Config == nil {
		return nil, errors.New("--history needs a kubeconfig")
	}
	if impersonates := clients.Config.Impersonate; impersonates.UserName != "" || len(impersonates.Groups) > 0 {
		return nil, errImpersonation
	}
	targets, err := f.targets(ctx, clients)
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, 0, len(targets))
	for _, target := range targets {
		answer, err := target.ask(ctx, object)
		if err != nil {
			answer = Answer{Answer: history.Answer{Entries: []history.Entry{}}, Error: err.Error()}
		}
		if answer.Process == "" || target.pod {
			answer.Process = target.name
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// target is a process that can be asked.
type target struct {
	name string
	// pod is set if the name is that of a pod.
	pod bool
	// reach returns how to connect with the credentials of the user, and what ends that.
	reach func(ctx context.Context) (*rest.Config, func(), error)
}

// ask asks one process.
func (t *target) ask(ctx context.Context, object history.Object) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	config, leave, err := t.reach(ctx)
	if err != nil {
		return Answer{}, err
	}
	defer leave()
	caller, err := rest.HTTPClientFor(config)
	if err != nil {
		return Answer{}, fmt.Errorf("connecting: %w", err)
	}
	query := url.Values{"group": {object.Group}, "kind": {object.Kind}, "namespace": {object.Namespace}, "name": {object.Name}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+serve.Path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return Answer{}, fmt.Errorf("asking: %w", err)
	}
	response, err := caller.Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("asking: %w", err)
	}
	defer response.Body.Close()
	return read(response)
}

// read reads an answer.
func read(response *http.Response) (answer Answer, err error) {
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxError))
		return answer, fmt.Errorf("it answers %d: %s", response.StatusCode, output.OneLine(strings.TrimSpace(string(text))))
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxBody)).Decode(&answer.Answer); err != nil {
		return answer, fmt.Errorf("reading the answer: %w", err)
	}
	return answer, nil
}
