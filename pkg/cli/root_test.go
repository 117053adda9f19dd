// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"berth.dev/berth/pkg/cli"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

func TestHelpFollowsTheNameOfTheProgram(t *testing.T) {
	tests := map[string]struct{ program, want string }{
		"berthctl":                {"/usr/local/bin/berthctl", "berthctl"},
		"another name":            {"berth", "berth"},
		"a plugin of kubectl":     {"/home/me/.krew/bin/kubectl-berth", "kubectl berth"},
		"on Windows":              {"kubectl-berth.exe", "kubectl berth"},
		"a plugin with a dash":    {"kubectl-my_berth", "kubectl my-berth"},
		"a plugin with two words": {"kubectl-my-berth", "kubectl my berth"},
		"no name":                 {"", "berthctl"},
		"only a directory":        {"/", "berthctl"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := clitest.Run(t.Context(), cli.Options{Program: tc.program}, "preview", "division", "--help")
			for _, want := range []string{
				"Usage:\n  " + tc.want + " preview division --replicas N",
				"\n  " + tc.want + " preview division --replicas 7 --weights beijing=2,hangzhou=3\n",
				`Use "` + tc.want + ` options" for`,
			} {
				if !strings.Contains(result.Out, want) {
					t.Errorf("printed\n%s\nwant %q", result.Out, want)
				}
			}
			if tc.want != "berthctl" && strings.Contains(result.Out, "berthctl") {
				t.Errorf("printed\n%s\nwant no berthctl", result.Out)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	tests := map[string]struct {
		args string
		want []string
	}{
		"no arguments":                    {"", []string{"Exit status:\n  0  ", "\n  1  ", "\n  explain ", "\n  get ", "\n  preview ", "\n  version "}},
		"--help":                          {"--help", []string{"Exit status:\n  0  "}},
		"help":                            {"help", []string{"Exit status:\n  0  "}},
		"of a group":                      {"get", []string{"\nUsage:\n  berthctl get COMMAND\n", "\n  placement "}},
		"of a command":                    {"help explain pod", []string{"\nUsage:\n  berthctl explain pod NAME"}},
		"options":                         {"options", []string{"--kubeconfig string", "-n, --namespace string"}},
		"no walls":                        {"get placement --help", []string{`Use "berthctl options" for the flags that all commands accept.`}},
		"completion":                      {"completion bash", []string{"# bash completion V2 for berthctl"}},
		"what a shell asks about formats": {"__complete preview division -o ", []string{"table\njson\nyaml\n:4\n"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := clitest.Run(t.Context(), cli.Options{}, strings.Fields(tc.args)...)
			if strings.HasSuffix(tc.args, " ") {
				result = clitest.Run(t.Context(), cli.Options{}, append(strings.Fields(tc.args), "")...)
			}
			if result.Code != 0 {
				t.Errorf("exit status %d, standard error %q", result.Code, result.Err)
			}
			for _, want := range tc.want {
				if !strings.Contains(result.Out, want) {
					t.Errorf("printed\n%s\nwant %q", result.Out, want)
				}
			}
			if strings.ContainsRune(result.Out, '\x1b') {
				t.Error("the text has colours")
			}
		})
	}
}

func TestHelpOfACommandLeavesTheFlagsOfAllCommandsOut(t *testing.T) {
	result := clitest.Run(t.Context(), cli.Options{}, "preview", "division", "--help")
	if strings.Contains(result.Out, "--kubeconfig") {
		t.Errorf("printed\n%s", result.Out)
	}
}

func TestWrongCommands(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"unknown":                   {"frobnicate", `unknown command "frobnicate" of berthctl, see berthctl --help`},
		"misspelt":                  {"prview", `unknown command "prview" of berthctl, did you mean preview?`},
		"misspelt in a group":       {"get placment", `unknown command "placment" of berthctl get, did you mean placement?`},
		"unknown before a flag":     {"explain statefulset x --history", `unknown command "statefulset" of berthctl explain, see berthctl explain --help`},
		"unknown with a name":       {"explain statefulset.apps/x", `unknown command "statefulset" of berthctl explain, see berthctl explain --help`},
		"a kind without a name":     {"explain pod/", `"" is no name of a pod`},
		"unknown in a group":        {"explain cluster", `unknown command "cluster" of berthctl explain, see berthctl explain --help`},
		"an argument of a list":     {"get clusters beijing", `takes no arguments, and there is "beijing", did you mean berthctl get cluster NAME?`},
		"an argument of list":       {"app list x", `berthctl app list takes no arguments, and there is "x", did you mean berthctl app get NAME?`},
		"an argument where none is": {"check x", `berthctl check takes no arguments, and there is "x", see berthctl check --help`},
		"an argument of options":    {"options x", `berthctl options takes no arguments`},
		"two where one is":          {"get resources a b", "berthctl get resources takes at most one name, and there are 2"},
		"two workloads":             {"get placement a b", "berthctl get placement takes at most one name, and there are 2"},
		"unknown flag":              {"--frobnicate", "unknown flag: --frobnicate"},
		"unknown short flag":        {"get placement -z", "unknown shorthand flag: 'z' in -z"},
		"flag without a value":      {"get placement -n", "flag needs an argument: 'n' in -n"},
		"not a boolean":             {"get placement --watch=maybe", "--watch: "},
		"unknown shell":             {"completion tcsh", `unknown command "tcsh" of berthctl completion`},
		"a very long command":       {strings.Repeat("x", 100_000), `unknown command "xxxx`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			clitest.Run(t.Context(), cli.Options{}, strings.Fields(tc.args)...).CheckFailed(t, tc.want)
		})
	}
}

func TestNamesAsKubectlPrintsThem(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	w.Policy("spread", "apps/v1", "Deployment", "nginx", map[string]int64{"beijing": 1})
	w.Deployment("nginx", 1).Pod("nginx-a")
	explain := func(args string) string {
		result := clitest.Run(t.Context(), w.Options(), strings.Fields(args)...)
		if result.Code != 0 {
			t.Errorf("berthctl %s: %s", args, result.Err)
		}
		return result.Out
	}
	want := explain("explain pod nginx-a --remedies=false -o json")
	for _, args := range []string{
		"explain pod/nginx-a --remedies=false -o json", "-n default explain pods/nginx-a --remedies=false -o json",
	} {
		if got := explain(args); got != want {
			t.Errorf("berthctl %s printed\n%s\nand with two words\n%s", args, got, want)
		}
	}
}

func TestShellsAreOfferedWhatThereIs(t *testing.T) {
	w := clitest.NewWorld(t)
	w.Cluster("beijing", 1)
	w.Policy("spread", "apps/v1", "Deployment", "nginx", map[string]int64{"beijing": 1})
	w.Deployment("nginx", 1).Pod("nginx-a")
	tests := map[string]struct {
		args []string
		want string
	}{
		"workloads":        {[]string{"get", "placement", ""}, "deployment/nginx\n:4\n"},
		"pods":             {[]string{"explain", "pod", ""}, "nginx-a\n:4\n"},
		"only one of them": {[]string{"explain", "pod", "nginx-a", ""}, ":4\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			result := clitest.Run(t.Context(), w.Options(), append([]string{"__complete"}, tc.args...)...)
			if result.Out != tc.want {
				t.Errorf("offered %q, want %q", result.Out, tc.want)
			}
		})
	}
	t.Run("through kubectl", func(t *testing.T) {
		options := w.Options()
		options.Program = "/usr/local/bin/kubectl_complete-berth"
		result := clitest.Run(t.Context(), options, "explain", "pod", "")
		if result.Out != "nginx-a\n:4\n" {
			t.Errorf("offered %q", result.Out)
		}
	})
	t.Run("without a cluster", func(t *testing.T) {
		result := clitest.Run(t.Context(), cli.Options{}, "__complete", "explain", "pod", "")
		if result.Out != ":4\n" {
			t.Errorf("offered %q, want nothing", result.Out)
		}
	})
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "completion" || cmd.Name() == "help" {
			return
		}
		if !cmd.HasSubCommands() && !strings.Contains(cmd.Example, "  "+cmd.CommandPath()) {
			t.Errorf("%s has the example %q", cmd.CommandPath(), cmd.Example)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(cli.NewCommand(cli.Options{}))
}
