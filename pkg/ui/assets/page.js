// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Fetches the page anew whenever the server says that something has changed. All that is shown
// comes from the server, as text that it has escaped.
"use strict";
(() => {
  const silence = 15000; // milliseconds without a sign of life, three times the heartbeat
  const pause = 5000; // milliseconds until a stream that was refused is asked for again
  const patience = 10000; // milliseconds for one page, twice what the server waits for its figures
  const live = document.getElementById("live");
  const banner = document.getElementById("connection");
  const filter = document.getElementById("q");
  let version = document.body.dataset.version, stream, told, opened = 0, failures = 0, later;
  let busy = false, again = "", held = false, heard = Date.now(), lost = 0, typed;

  const say = (text) => {
    banner.textContent = text;
    banner.hidden = !text;
  };
  const alive = () => {
    heard = Date.now();
    if (lost) {
      lost = 0;
      say("");
    }
  };
  const gone = () => {
    if (lost) return;
    lost = heard;
    say("Outdated: no connection since " + new Date(lost).toISOString().slice(0, 19).replace("T", " ") +
      " UTC. The figures are those of before.");
  };

  // What has the focus is found again by its id, or by where it leads.
  const focused = () => {
    const e = document.activeElement;
    if (!e || !live.contains(e)) return null;
    return e.id ? "#" + CSS.escape(e.id) : e.getAttribute("href") ? `a[href="${CSS.escape(e.getAttribute("href"))}"]` : null;
  };
  // Nothing is replaced while somebody selects a part of it.
  const selecting = () => {
    const selection = document.getSelection();
    return selection && !selection.isCollapsed && (live.contains(selection.anchorNode) || live.contains(selection.focusNode));
  };
  const replace = (content) => {
    const focus = focused();
    const scrolled = [...live.querySelectorAll(".scroll")].map((e) => [e.id, e.scrollLeft]);
    live.replaceChildren(...content.childNodes);
    for (const [id, left] of scrolled) {
      const region = document.getElementById(id);
      if (region) region.scrollLeft = left;
    }
    if (focus) live.querySelector(focus)?.focus({ preventScroll: true });
  };

  // Loads the page anew. Asked is set if the user asked for it.
  const load = async (asked) => {
    if (!asked && selecting()) {
      held = true;
      if (!lost) say("A change is held back while text is selected.");
      return;
    }
    if (busy) {
      again = asked ? "asked" : again || "changed";
      return;
    }
    busy = true;
    try {
      const answer = await fetch(location.href, {
        cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout(patience),
      });
      if (answer.status === 401) {
        location.reload();
        return;
      }
      if (answer.redirected && new URL(answer.url).pathname !== location.pathname) {
        location.assign(answer.url);
        return;
      }
      if (!answer.ok && answer.status !== 404) throw new Error(answer.statusText);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const content = fresh.getElementById("live");
      if (!content) throw new Error("no page");
      replace(content);
      version = fresh.body.dataset.version;
      alive();
    } catch {
      gone();
    } finally {
      busy = false;
      const next = again;
      again = "";
      if (next) load(next === "asked");
    }
  };
  document.addEventListener("selectionchange", () => {
    if (!held || selecting()) return;
    held = false;
    if (!lost) say("");
    load();
  });

  const close = () => {
    clearTimeout(later);
    stream?.close();
    stream = undefined;
  };
  // A browser asks again by itself when a stream ends, and no more once it is refused. A stream may
  // come from another server than the page, and count apart: its first event is compared with the
  // page, all others with the one before.
  const open = () => {
    close();
    if (document.hidden) return;
    const own = new EventSource("/ui/events");
    stream = own;
    opened = Date.now();
    own.addEventListener("open", () => {
      failures = 0;
      told = undefined;
    });
    own.addEventListener("version", (event) => {
      if (event.data !== (told ?? version) || lost) load();
      else heard = Date.now();
      told = event.data;
    });
    own.addEventListener("error", () => {
      failures++;
      const refused = own.readyState === EventSource.CLOSED;
      if (refused || failures > 1) gone();
      if (refused && stream === own) {
        later = setTimeout(open, pause);
        load();
      }
    });
  };
  // A page that nobody sees needs no stream, of which a browser has six at a time for one server.
  document.addEventListener("visibilitychange", () => {
    open();
    if (document.hidden) return;
    if (!lost) heard = Date.now();
    load();
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  setInterval(() => {
    const now = Date.now();
    if (document.hidden || now - heard <= silence) return;
    gone();
    if (now - opened > silence) open();
  }, 1000);
  open();

  const go = (address) => {
    history.replaceState(null, "", address);
    load(true);
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
})();
