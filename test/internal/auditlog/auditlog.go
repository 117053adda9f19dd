// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package auditlog counts the requests that an API server has answered, by who made them and what
// they did. It reads the audit log of the API server, which has a line for each request: its
// metrics do not tell the users apart.
package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// policy notes every request except watches, which last, and those that are about no object.
const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [watch]
- level: None
  nonResourceURLs: ["*"]
- level: Metadata
`

// policyOf notes every request of some users, watches when they begin and end.
const policyOf = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  nonResourceURLs: ["*"]
- level: Metadata
  users: [%s]
- level: None
`

// Log is the audit log of one API server. It is not safe for concurrent use.
type Log struct {
	folder string
	offset int64
}

// New makes the files of a log in a folder, which must exist. Watches are not logged.
func New(folder string) (*Log, error) { return newLog(folder, policy) }

// NewOf makes the files of a log of the requests of some users, their watches too.
func NewOf(folder string, users ...string) (*Log, error) {
	quoted := make([]string, len(users))
	for i, user := range users {
		quoted[i] = strconv.Quote(user)
	}
	return newLog(folder, fmt.Sprintf(policyOf, strings.Join(quoted, ", ")))
}

func newLog(folder, policy string) (*Log, error) {
	l := &Log{folder: folder}
	if err := os.WriteFile(l.policyFile(), []byte(policy), 0o600); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	return l, nil
}

func (l *Log) policyFile() string { return filepath.Join(l.folder, "audit-policy.yaml") }
func (l *Log) file() string       { return filepath.Join(l.folder, "audit.log") }

// Flags returns the flags of kube-apiserver that make it write the log.
func (l *Log) Flags() []string {
	return []string{
		"--audit-policy-file=" + l.policyFile(), "--audit-log-path=" + l.file(),
		// No request is answered later than its line is written, none is dropped, and the file is
		// never rotated.
		"--audit-log-mode=blocking", "--audit-log-maxsize=100000",
	}
}

// Request is one request that was answered.
type Request struct {
	User, Verb string
	// Agent is what the client says that it is, as "berth-scheduler/v1.2.3".
	Agent string
	// Impersonated is as whom the user made the request, empty for as himself.
	Impersonated string
	// Group is the API group of the resource.
	Group string
	// Resource is what was asked for, with the subresource after a slash.
	Resource        string
	Namespace, Name string
	// Code is the HTTP status.
	Code int
	// Unauthorized reports whether the user, or who is impersonated, lacks the right to it. Admission
	// may refuse a request with the same status.
	Unauthorized bool
}

// Write reports whether the request has changed, made or removed an object. Leases do not count:
// whoever holds one renews it, at work or idle.
func (r *Request) Write() bool {
	return r.Code < 300 && r.Resource != "leases" &&
		slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

// Next returns the requests that have been logged since the last call. A request is logged a moment
// after it was answered.
func (l *Log) Next() ([]Request, error) {
	file, err := os.Open(l.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.NewSectionReader(file, l.offset, 1<<40))
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	// The last line may still be being written.
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	var requests []Request
	for line := range bytes.Lines(content) {
		request, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		requests = append(requests, request)
	}
	l.offset += int64(len(content))
	return requests, nil
}

func parse(line []byte) (Request, error) {
	var event struct {
		Verb, UserAgent        string
		User, ImpersonatedUser struct{ Username string }
		// ObjectRef is absent in requests that are about no object.
		ObjectRef      struct{ APIGroup, Resource, Subresource, Namespace, Name string }
		ResponseStatus struct{ Code int }
		Annotations    map[string]string
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return Request{}, fmt.Errorf("decoding a line: %w", err)
	}
	r := Request{
		User: event.User.Username, Agent: event.UserAgent, Verb: event.Verb, Resource: event.ObjectRef.Resource, Namespace: event.ObjectRef.Namespace,
		Name: event.ObjectRef.Name, Code: event.ResponseStatus.Code, Group: event.ObjectRef.APIGroup,
		Impersonated: event.ImpersonatedUser.Username,
		Unauthorized: event.Annotations["authorization.k8s.io/decision"] == "forbid",
	}
	if event.ObjectRef.Subresource != "" {
		r.Resource += "/" + event.ObjectRef.Subresource
	}
	return r, nil
}
