// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Fetches the page anew whenever the server says that something has changed. All that is shown
// comes from the server, as text that it has escaped.
"use strict";
(() => {
  const silence = 15000; // milliseconds without a sign of life, three times the heartbeat
  const live = document.getElementById("live");
  const banner = document.getElementById("connection");
  const filter = document.getElementById("q");
  let version = document.body.dataset.version;
  let busy = false, again = false, heard = Date.now(), lost = 0, typed;

  const alive = () => {
    heard = Date.now();
    if (lost) {
      lost = 0;
      banner.hidden = true;
      banner.textContent = "";
    }
  };
  const gone = () => {
    if (!lost) {
      lost = heard;
      banner.textContent = "Outdated: no connection since " + new Date(lost).toISOString().slice(0, 19).replace("T", " ") +
        " UTC. The figures are those of before.";
      banner.hidden = false;
    }
  };

  // The element that has the focus is found again by its id, or by where it leads.
  const focused = () => {
    const e = document.activeElement;
    if (!e || !live.contains(e)) return null;
    return e.id ? "#" + CSS.escape(e.id) : e.getAttribute("href") ? `a[href="${CSS.escape(e.getAttribute("href"))}"]` : null;
  };

  const load = async () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store", credentials: "same-origin" });
      if (answer.redirected && new URL(answer.url).pathname !== location.pathname) {
        location.assign(answer.url);
        return;
      }
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const content = fresh.getElementById("live");
      if (!content) throw new Error("no page");
      const focus = focused();
      live.replaceChildren(...content.childNodes);
      if (focus) live.querySelector(focus)?.focus({ preventScroll: true });
      version = fresh.body.dataset.version;
      alive();
    } catch {
      gone();
    } finally {
      busy = false;
      if (again) {
        again = false;
        load();
      }
    }
  };

  const go = (address) => {
    history.replaceState(null, "", address);
    load();
  };

  live.addEventListener("click", (event) => {
    const link = event.target.closest("th a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.href);
  });

  const apply = () => {
    const address = new URL(location.href);
    if (filter.value) address.searchParams.set("q", filter.value);
    else address.searchParams.delete("q");
    go(address);
  };
  filter.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(apply, 150);
  });
  filter.form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });

  const events = new EventSource("/ui/events");
  events.addEventListener("version", (event) => {
    if (event.data !== version || lost) load();
    else alive();
  });
  events.addEventListener("error", gone);
  setInterval(() => {
    if (Date.now() - heard > silence) gone();
  }, 1000);
})();
