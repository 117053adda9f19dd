// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Names of the components, as used for binaries, processes and log files.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Kwok              = "kwok"

	// APIServerReplica is the name of the process that AddAPIServer starts.
	APIServerReplica = APIServer + "-replica"
)

// DefaultStartTimeout bounds the start of one component when
// Options.StartTimeout is zero. It is generous: a loaded machine needs many
// times the usual second or two.
const DefaultStartTimeout = 90 * time.Second

// BinDirEnv names the environment variable that FindBinDir reads first.
const BinDirEnv = "BERTH_BIN"

// Options says where a control plane finds its programs and keeps its state.
// The zero value of every field is usable except for BinDir.
type Options struct {
	// BinDir holds the binaries etcd, kube-apiserver,
	// kube-controller-manager and kwok.
	BinDir string

	// StateDir is where data, certificates, kubeconfigs and logs go. It must
	// not exist yet or be an empty directory of the caller. Empty means a new
	// directory under os.TempDir.
	StateDir string

	// LogDir receives one log file per process. Empty means StateDir/logs,
	// which is removed with the state.
	LogDir string

	// KeepState leaves the state directory behind after Stop.
	KeepState bool

	// StartTimeout bounds the start of one component.
	StartTimeout time.Duration

	// Progress, if set, is told about each step in a few words. It is called
	// from the goroutine that calls Start.
	Progress func(message string)

	// EtcdArgs, APIServerArgs and ControllerManagerArgs are appended to the
	// flags of the component; a repeated flag overrides the default.
	EtcdArgs, APIServerArgs, ControllerManagerArgs []string
}

// FindBinDir returns the directory with the control plane's binaries: the one
// named by the environment variable BERTH_BIN, or bin/ next to the go.mod that
// governs the working directory. Start checks what is in it.
func FindBinDir() (string, error) {
	if dir := os.Getenv(BinDirEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the binaries: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "bin"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the binaries: set " + BinDirEnv + " or run inside the repository")
		}
		dir = parent
	}
}

// complete checks the options and fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.BinDir == "" {
		return o, errors.New("control plane: no directory for the binaries given")
	}
	for _, name := range []string{Etcd, APIServer, ControllerManager, Kwok} {
		path := filepath.Join(o.BinDir, name)
		if info, err := os.Stat(path); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			return o, fmt.Errorf("control plane: no program %s: run make build-control-plane first", path)
		}
	}
	if o.StartTimeout <= 0 {
		o.StartTimeout = DefaultStartTimeout
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	dir, err := makeStateDir(o.StateDir)
	if err != nil {
		return o, err
	}
	o.StateDir = dir
	if o.LogDir == "" {
		o.LogDir = filepath.Join(dir, "logs")
	}
	if err := os.MkdirAll(o.LogDir, 0o700); err != nil {
		return o, fmt.Errorf("control plane: making the log directory: %w", err)
	}
	return o, nil
}

// makeStateDir returns the absolute path of an empty directory that only its
// owner can enter.
func makeStateDir(dir string) (string, error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "berth-control-plane-")
		if err != nil {
			return "", fmt.Errorf("control plane: making the state directory: %w", err)
		}
		return dir, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("control plane: state directory %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("control plane: making the state directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("control plane: reading the state directory: %w", err)
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("control plane: state directory %s is not empty", dir)
	}
	// Chmod fails on a directory of somebody else, which is what we want.
	if err := os.Chmod(dir, 0o700); err != nil {
		return "", fmt.Errorf("control plane: state directory %s is not ours: %w", dir, err)
	}
	return dir, nil
}
