// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package grants

// Standing is what is known of a scheduler when it is decided what it may be granted.
type Standing struct {
	// Registered is true while there is a Scheduler of that name. There may be grants of one that
	// is gone.
	Registered bool
	// Alive is true while a process of it runs.
	Alive bool
	// Leaving is true while it is being deleted.
	Leaving bool
	// Keeps is true if it says that it charges nothing but what it was granted.
	Keeps bool
	// Closed is true if it says that it charges nothing any more.
	Closed bool
	// Granted is true if something is recorded as granted to it.
	Granted bool
	// Stopped is true if it is certain that no process of it can charge anything now. It counts
	// where MustStop asks for it.
	Stopped bool
}

// MustStop reports whether it has to be made certain that no process of the scheduler can charge
// anything: of one that was granted something and has died, before others get that, and of one that
// may charge everything, before anybody is granted anything.
func (s Standing) MustStop() bool {
	return s.Died() || s.Registered && !s.Keeps
}

// Died reports whether the scheduler was granted something and runs no more.
func (s Standing) Died() bool {
	return s.Granted && !s.Alive
}

// Finished reports whether the scheduler charges nothing any more, so that of what it was granted
// there is left what its pods hold.
func (s Standing) Finished() bool {
	if s.Alive {
		return s.Granted && s.Leaving && s.Closed
	}
	return s.Granted && s.Stopped
}

// role returns what the scheduler may be granted if nothing stands against it.
func (s Standing) role() Grantee {
	active := s.Alive && s.Keeps
	return Grantee{Takes: active && !s.Leaving, Leaving: active && s.Leaving}
}

// AnyTakes reports whether there is a scheduler that may be granted something. Without one, nobody
// needs to be stopped while a process runs.
func AnyTakes(standings map[string]Standing) bool {
	for _, s := range standings {
		if s.role().Takes {
			return true
		}
	}
	return false
}

// AnyAlive reports whether a process of any scheduler runs. Without one, what was granted comes
// back, because whoever takes over knows of no grants.
func AnyAlive(standings map[string]Standing) bool {
	for _, s := range standings {
		if s.Alive {
			return true
		}
	}
	return false
}

// Alone reports whether there is one Scheduler that may charge everything, or none at all, so that
// nothing is to be granted.
func Alone(standings map[string]Standing) bool {
	registered := 0
	for _, s := range standings {
		if s.Keeps {
			return false
		}
		if s.Registered {
			registered++
		}
	}
	return registered < 2
}

// limited reports whether a scheduler charges no more than what it was granted.
func (s Standing) limited() bool { return !s.Registered || s.Keeps || s.Stopped }

// Roles returns what each scheduler may be granted. Counted says that all pods are known that those
// have bound that are Finished; until then what these were granted stays with them. While a
// scheduler that may charge everything has not been stopped nobody takes anything. It is false if
// something has to be waited for, so that another pass must follow.
func Roles(standings map[string]Standing, counted bool) (roles map[string]Grantee, complete bool) {
	roles = make(map[string]Grantee, len(standings))
	for name, s := range standings {
		roles[name] = s.role()
	}
	if !AnyTakes(standings) && AnyAlive(standings) {
		return roles, true
	}
	complete = true
	limited := true
	for name, s := range standings {
		switch {
		case s.Finished() && counted:
			roles[name] = Grantee{Settled: true}
		case s.Finished(), s.Died():
			complete = false
		}
		limited = limited && s.limited()
	}
	if limited {
		return roles, complete
	}
	for name, role := range roles {
		role.Takes = false
		roles[name] = role
	}
	return roles, false
}
