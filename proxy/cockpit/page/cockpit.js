"use strict";
// The page shows the events of GET /admin/live. Nothing here remembers state but the charts' points.

const failing = (v) => ["held", "error"].includes(v.job.status);

function served(v) {
  if (!v.loaded) return v.error ? "not loaded: " + v.error : v.held ? "held: " + v.held : "loading";
  return v.held ? "held: " + v.held : v.stale ? "unconfirmed" : v.error ? "failing: " + v.error : v.mode === "store" ? "from the store" : "from memory";
}

function lastRun(job, next, now) {
  return [job.status ? `${job.status}${job.error ? ": " + job.error : ""}, ${since(job.started, now)} ago, ${time(job.seconds)}` : "none yet",
    job.empty && "no records", next && (next.value < 0 ? "overdue" : "next in " + time(Math.ceil(next.value)))].filter(Boolean).join(", ");
}

// menu returns a button and the menu that it opens, which has the actions that must not happen by a slip. The browser
// also opens it by keyboard, and closes it by Escape.
function menu(view) {
  const whose = view || "all views";
  const force = make("button", { textContent: `Force ${whose} …`, className: "grave" });
  force.dataset.force = view;
  const pop = make("div", { popover: "auto", className: "menu" },
    make("p", { textContent: `Publishes ${view || "every view"} even if many rows disappear. You are asked once more.` }), force);
  const button = make("button", { textContent: "⋯", className: "plain", popoverTargetElement: pop });
  button.setAttribute("aria-label", `More for ${whose}`);
  button.dataset.more = view;
  pop.addEventListener("beforetoggle", () => {
    const at = button.getBoundingClientRect(), page = document.documentElement;
    pop.style.top = `${at.bottom + scrollY + 4}px`;
    pop.style.right = `${Math.max(8, Math.min(page.clientWidth - at.right, page.clientWidth - 296))}px`;
  });
  pop.addEventListener("toggle", (event) => { if (event.newState === "open") force.focus(); });
  return [button, pop];
}

function showViews(views, runs, next, now) {
  rows($("views").tBodies[0], views, (v) => v.view,
    (v) => [v.view, count(v.rows), count(v.generation), since(v.published, now), served(v), lastRun(v.job, next?.series.find((s) => s.labels.view === v.view), now)],
    (tr, v, n) => {
      if (!tr.children[n].firstChild) {
        const refresh = make("button", { textContent: "Refresh", className: "plain" });
        refresh.setAttribute("aria-label", `Refresh ${v.view}`);
        refresh.dataset.run = v.view;
        tr.children[n].append(make("details", {}, make("summary"), make("ul")));
        tr.children[n + 1].append(drawing("svg", { viewBox: "0 0 96 10", preserveAspectRatio: "none", role: "img", class: "runs" }));
        tr.children[n + 2].append(refresh, ...menu(v.view));
      }
      tr.children[4].classList.toggle("bad", Boolean(v.held || v.stale || v.error));
      tr.children[5].classList.toggle("bad", failing(v));
      const details = tr.children[n].firstChild, skips = v.job.skips ?? [];
      details.hidden = !v.job.skipped;
      tr.children[n].classList.toggle("none", details.hidden);
      put(details.firstChild, count(v.job.skipped));
      const reasons = skips.map((s) => `${s.id}: ${s.reason}`);
      if (details.dataset.reasons !== reasons.join("\n")) {
        details.dataset.reasons = reasons.join("\n");
        details.lastChild.replaceChildren(...reasons.map((r) => make("li", { textContent: r })));
      }
      timeline(tr.children[n + 1].firstChild, runs[v.view] ?? [], now);
    });
}

function showRequests(f) {
  const endpoints = new Map();
  for (const s of f?.series ?? []) {
    const name = s.labels.endpoint.replace(/^forwarded .*/, "forwarded"); // the other server's table has the paths
    const e = endpoints.get(name) ?? { name, total: 0, sum: 0, buckets: [] };
    endpoints.set(e.name, e);
    e[s.labels.class] = (e[s.labels.class] ?? 0) + s.value;
    e.total += s.value;
    e.sum += s.sum ?? 0;
    e.buckets = s.buckets.map((n, i) => n + (e.buckets[i] ?? 0));
  }
  rows($("requests").tBodies[0], [...endpoints.values()].sort((a, b) => b.total - a.total), (e) => e.name,
    (e) => [e.name, ...["2xx", "3xx", "4xx", "5xx"].map((c) => count(e[c] ?? 0)), time(e.sum / e.total), ...[0.5, 0.99].map((q) => time(quantile(q, e.buckets, f.bounds, e.total)))],
    (tr, e) => tr.children[4].classList.toggle("bad", e["5xx"] > 0 && e.name !== "readyz"));
}

function refreshed(run, now) {
  if (!run) return "none here";
  const parts = [`${since(run.began, now)} ago, ${time(run.seconds)}: ${count(run.due)} due`];
  for (const part of ["changed", "failed", "removed"]) if (run[part]) parts.push(`${count(run[part])} ${part}`);
  return parts.join(", ");
}

function showKept(rules, now) {
  $("rules").hidden = !rules.length;
  rows($("kept").tBodies[0], rules, (r) => r.rule,
    (r) => [r.rule, count(r.answers), r.budget ? `${bytes(r.bytes)} of ${bytes(r.budget)}` : bytes(r.bytes),
      since(r.oldest, now), count(r.hits), count(r.misses), count(r.served), count(r.failures),
      r.failed ? `failing for ${since(r.failed_at, now)}: ${r.failed}` : r.stale ? `${count(r.stale)} stale` : "fresh",
      refreshed(r.last, now)],
    (tr, r) => {
      tr.children[8].classList.toggle("bad", Boolean(r.failed));
      tr.children[9].classList.toggle("bad", Boolean(r.last?.failed));
    });
}

const failsSince = (from, why, now) => `fails since ${clock(Date.parse(from), now)}${why ? ": " + why : ""}`;

// otherState is the state of the other server in words.
function otherState(up, now) {
  if (up.state === "failing") return failsSince(up.since, up.reason, now);
  return up.state === "answering" ? `answers${up.since ? ` since ${clock(Date.parse(up.since), now)}` : ""}` : "not asked yet";
}

function showUpstream(up, now) {
  $("h-upstream").parentNode.hidden = !up;
  if (!up) return;
  const traffic = up.traffic ?? [];
  pairs("upstream", [["Address", up.url + (up.host ? `, asked as ${up.host}` : "")],
    ["State", otherState(up, now)], ["Error", up.error],
    ["Requests", up.open ? "Clients get 503 at once; only a probe is sent now and then." : ""],
    ["Failed since then", up.failures ? count(up.failures) : ""],
    ["Last success", up.last_success && `${clock(Date.parse(up.last_success), now)}, ${since(up.last_success, now)} ago`],
    ["Routes moved to it", (up.routes ?? []).join(", ") || "none"],
    ["Paths left to it", (up.paths ?? []).join(", ") || "none"]]);
  $("upstream").querySelector("[data-key=State]").lastChild.className = up.state === "failing" ? "bad" : up.state === "answering" ? "good" : "";
  $("unasked").hidden = traffic.length > 0;
  $("traffic").parentNode.hidden = !traffic.length;
  const ms = (n) => n === undefined ? "" : n === null ? "–" : time(n / 1000);
  const sum = (name) => traffic.reduce((all, t) => all + t[name], 0);
  const all = traffic.length > 1 ? [{ path: "all", total: true,
    ...Object.fromEntries(["asked", "kept", "stale", "forwarded", "failed"].map((name) => [name, sum(name)])) }] : [];
  rows($("traffic").tBodies[0], [...traffic, ...all], (t) => t.total ? "" : t.path + " " + (t.rule ?? ""),
    (t) => [t.path, t.total ? "" : t.rule ?? (t.moved ? "none, a moved route" : "none"),
      t.total ? "" : t.failing_since ? failsSince(t.failing_since, t.reason, now) : t.forwarded ? "answers" : "not asked yet",
      ...["asked", "kept", "stale", "forwarded", "failed"].map((name) => count(t[name])), ms(t.p50_ms), ms(t.p99_ms)],
    (tr, t) => {
      tr.classList.toggle("total", Boolean(t.total));
      tr.children[2].classList.toggle("bad", Boolean(t.failing_since));
      tr.children[7].classList.toggle("bad", t.failed > 0);
    });
}

const pairsOf = ({ time: at, level, msg, ...rest }) => Object.entries(rest);

// listed is what the lines of an entry are about: all of it, or the first two and how many there are.
const listed = ({ values, more }) => values.length < 4 ? values.join(", ")
  : `${values.slice(0, 2).join(", ")}, … ${more ? "more than " : ""}${values.length}`;

// showLog shows each entry with its newest line, and what all are about. What repeats it is behind it: only what
// differs from line to line.
function showLog(entries, now) {
  $("quiet").hidden = entries.length > 0;
  $("log").parentNode.hidden = !entries.length;
  rows($("log").tBodies[0], entries.toReversed(), (e) => String(e.id),
    (e) => [clock(e.last, now), e.lines.at(-1).level, count(e.count), e.count > 1 ? clock(e.first, now) : "–"],
    (tr, e, n) => {
      const newest = e.lines.at(-1), cell = tr.children[n];
      tr.children[1].classList.toggle("bad", newest.level === "ERROR");
      if (cell.dataset.count === String(e.count)) return;
      cell.dataset.count = e.count;
      const names = (e.names ?? []).filter((a) => a.values.length > 1);
      const rest = pairsOf(newest).filter(([k]) => !names.some((a) => a.attribute === k)).map(([k, v]) => ` ${k}=${v}`).join("");
      const text = [make("strong", { textContent: newest.msg }), names.length ? ` (${names.map(listed).join("; ")})` : "", rest];
      if (e.count === 1 && newest.msg.length + rest.length <= long) return cell.replaceChildren(...text);
      const varies = ([k, v]) => e.lines.some((line) => line[k] !== v);
      const repeated = e.count > 1 ? [
        ...names.map((a) => make("p", { textContent: `${a.attribute}: ${a.values.join(", ")}${a.more ? " and more" : ""}` })),
        make("p", { textContent: e.count > e.lines.length ? `The last ${e.lines.length} of ${count(e.count)} lines, as far as they differ:` : "All lines, as far as they differ:" }),
        make("ol", {}, ...e.lines.toReversed().map((line) => make("li", {
          textContent: [clock(Date.parse(line.time), now), ...pairsOf(line).filter(varies).map(([k, v]) => `${k}=${v}`)].join(" "),
        })))] : [];
      const focused = cell.contains(document.activeElement);
      cell.replaceChildren(clip(cell.firstChild?.open ?? false, text, ...repeated));
      if (focused) cell.querySelector("summary").focus();
    });
}

// Summary: what an operator wants to know first. A tile leads to its section.
const recent = 15 * 60 * 1000; // ms

function tile(to, name, value, detail, kind = "") {
  let link = $("summary").querySelector(`[href="#${to}"]`);
  if (!link) {
    link = make("a", { href: "#" + to }, make("span", { textContent: name }), " ", make("strong"), " ", make("small"));
    $("summary").append(make("li", {}, link));
  }
  put(link.children[1], value);
  put(link.children[2], detail);
  link.className = kind;
}

function showSummary({ state, metrics, failures, log }, now) {
  const ran = state.views.filter((v) => v.job.started).sort((a, b) => Date.parse(b.job.started) - Date.parse(a.job.started));
  const bad = ran.filter(failing), last = bad[0] ?? ran[0];
  if (!last) tile("h-views", "Last run", "none yet", times(state.views.length, "view"));
  else tile("h-views", "Last run", bad.length ? `${last.view}: ${last.job.status}` : last.job.status,
    `${bad.length ? "" : last.view + ", "}${since(last.job.started, now)} ago${last.job.error ? ": " + last.job.error : ""}`
      + (bad.length > 1 ? `; ${bad.length - 1} more` : bad.length ? "" : `; all ${ran.length} well`), bad.length ? "bad" : "good");

  const late = (failures ?? []).filter((m) => m.at * 1000 > now - recent), n = late.reduce((sum, m) => sum + m.count, 0);
  const all = failed(metrics.vitrine_request_seconds?.series ?? []), newest = failures?.at(-1);
  tile("h-requests", "5xx, last 15 min", count(n), (newest ? `last at ${clock(newest.at * 1000, now).slice(0, -3)}, ` : "") + (all ? `${count(all)} since the start` : "none since the start"),
    n ? "bad" : "good");

  const warned = log.filter((e) => e.last > now - recent), lines = log.reduce((sum, e) => sum + e.count, 0), again = log.at(-1);
  tile("h-log", "Warnings, last 15 min", count(warned.length), again ? `${ago(again.last, now)} ago: ${again.lines.at(-1).msg}; ${times(lines, "line")} in all` : "none since the start",
    warned.some((e) => e.lines.at(-1).level === "ERROR") ? "bad" : warned.length ? "warn" : "good");

  const up = state.upstream;
  if (!up) $("summary").querySelector('[href="#h-upstream"]')?.parentNode.remove();
  else tile("h-upstream", "Other server", up.state === "failing" ? "fails" : up.state === "answering" ? "answers" : "not asked yet",
    [up.state === "failing" ? `since ${clock(Date.parse(up.since), now)}: ${up.reason}` : up.last_success && `${since(up.last_success, now)} ago`,
      up.routes?.length ? times(up.routes.length, "route") + " moved" : ""].filter(Boolean).join("; "), { failing: "bad", answering: "good" }[up.state]);
}

const pairs = (id, list) => rows($(id), list.filter(([, value]) => value !== undefined && value !== ""), (p) => p[0], (p) => p);

// byLabel shows what metrics count for each value of a label, by outcome or in words; without any its card is hidden.
function byLabel(id, label, ...counted) {
  const found = new Map();
  for (const [family, what] of counted) {
    for (const { labels, value } of family?.series ?? []) {
      found.set(labels[label], [...(found.get(labels[label]) ?? []), `${count(value)} ${labels.outcome ?? what}`]);
    }
  }
  $(id).closest("section").hidden = !found.size;
  pairs(id, [...found].map(([name, texts]) => [name, texts.join(", ")]));
}

function show(e) {
  if (!e.state) return;
  const { state, metrics } = e, now = e.at, value = (name) => metrics[name]?.series?.[0]?.value ?? 0;
  bounds = metrics.vitrine_request_seconds?.bounds ?? bounds;
  const point = pointOf(metrics, now), begun = "process_start_time_seconds";
  if (points.at(-1)?.values[begun] !== point.values[begun]) points = []; // the server was started again
  points = [...points, point].slice(-150); // of five minutes
  const build = metrics.vitrine_build_info?.series[0].labels, store = state.store;
  put($("build"), [state.instance, build && `${build.version} ${build.commit}`, `up ${time(now / 1000 - value("process_start_time_seconds"))}`].filter(Boolean).join(" · "));
  const up = state.upstream, fails = up?.state === "failing";
  const other = `the other server ${fails ? failsSince(up.since, up.reason, now) : ""}`;
  contact(!state.ready ? "Starting: not all views are loaded" : state.degraded ? `Degraded: ${state.degraded}${fails ? ` Also ${other}.` : ""}`
    : fails ? `Ready, but ${other}` : "Ready", !state.ready || state.degraded || fails ? "bad" : "good");
  latest = now;
  showSummary({ ...e, log: e.log ?? [] }, now);
  draw();
  showViews(state.views, e.runs ?? {}, metrics.vitrine_job_next_seconds, now);
  showRequests(metrics.vitrine_request_seconds);
  showUpstream(up, now);
  showKept(state.kept ?? [], now);
  showLog(e.log ?? [], now);
  const sum = (name) => state.views.reduce((all, v) => all + (v[name] ?? 0), 0);
  pairs("memory", [["Rows of views", bytes(sum("row_bytes"))], ["Indexes of views", bytes(sum("index_bytes"))],
    ["Answers kept", `${bytes(value("vitrine_results_bytes"))} of ${bytes(value("vitrine_results_budget_bytes"))}`],
    ["Answers being sent", bytes(value("vitrine_results_in_flight_bytes"))], ["Heap in use", bytes(value("go_memstats_heap_inuse_bytes"))],
    ["Process, resident", bytes(value("process_resident_memory_bytes"))], ["Mapped files of views", bytes(sum("mapped_bytes"))]]);
  const leads = value("vitrine_job_leading") === 1;
  pairs("store", [["Store", store?.name], ["State", store && (store.up ? "answers" : "away: " + (store.error ?? ""))],
    ["Last answer", store && since(store.contact, now) + " ago"], ["Away since the start", store && `${count(store.opened)} times, ${count(store.refused)} operations refused`],
    ["This instance", `${state.instance}, ${leads ? "runs the jobs" : "does not run jobs"}`],
    ["Lease", state.no_leader ? "unknown: " + state.no_leader : state.leader || "free"], ["Goroutines", count(value("go_goroutines"))]]);
  byLabel("keys", "key", [metrics.vitrine_key_requests_total]);
  byLabel("purge", "target", [metrics.vitrine_purge_requests_total], [metrics.vitrine_purge_waiting_tags, "tags wait"],
    [metrics.vitrine_purge_skipped_total, "batches given up"]);
  $("reload").hidden = !state.actions.includes("POST /admin/reload");
}

// The stream. EventSource cannot send the token, so fetch reads it.
const contact = (text, kind) => { say($("contact"), text); $("contact").className = kind; };
const headers = () => { const token = sessionStorage.getItem("token"); return token ? { Authorization: "Bearer " + token } : {}; };
const reason = async (res) => (await res.json().catch(() => ({}))).msg ?? `HTTP ${res.status}`;
let latest = 0; // when the newest event was made
const silence = 15_000; // after which a stream counts as broken, in ms

async function watch() {
  for (;;) {
    const gone = new AbortController();
    let alarm = setTimeout(() => gone.abort(), silence);
    try {
      const res = await fetch("/admin/live", { headers: headers(), signal: gone.signal });
      if (res.status === 403 || res.status === 429) return ask(sessionStorage.getItem("token") ? await reason(res) : "");
      if (!res.ok) throw new Error(await reason(res));
      $("login").hidden = true;
      $("state").hidden = false;
      let rest = "";
      for (const reader = res.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) throw new Error("the server ended the stream");
        clearTimeout(alarm);
        alarm = setTimeout(() => gone.abort(), silence);
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) receive(event);
      }
    } catch (e) {
      contact(`No contact${latest ? `, below is the state of ${clock(latest, Date.now())}` : ""}: ${e.message}. Trying again …`, "bad");
    } finally {
      clearTimeout(alarm);
    }
    await new Promise((again) => setTimeout(again, 2000));
  }
}

function receive(event) {
  const data = event.slice(event.indexOf("data:") + 5);
  if (!event.startsWith("event:")) show(JSON.parse(data));
}

function ask(why) {
  sessionStorage.removeItem("token");
  contact(why || "The token is needed", "bad");
  $("state").hidden = true;
  $("login").hidden = false;
  $("token").focus();
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value);
  $("token").value = "";
  watch();
});

// Buttons.
async function act(path, name, done) {
  put($("outcome"), name + " …");
  try {
    const res = await fetch(path, { method: "POST", headers: headers() });
    const answer = await res.json().catch(() => ({}));
    put($("outcome"), `${name}: ${answer.msg ?? (res.ok ? done(answer) : `HTTP ${res.status}`)}`);
  } catch (e) {
    put($("outcome"), `${name}: ${e.message}`);
  }
}

const run = (view, force) => act("/admin/refresh?" + new URLSearchParams({ ...(view && { view }), ...(force && { force: 1 }) }),
  `${force ? "Force" : "Refresh"} ${view || "all views"}`, () => "begun; the table shows how it ends.");

$("reload").before(...menu(""));

let forced = "";
document.addEventListener("click", (event) => {
  const { run: view, force } = event.target.dataset;
  if (view !== undefined) return run(view, false);
  if (force === undefined) return;
  event.target.parentNode.hidePopover();
  forced = force;
  put($("h-sure"), `Force ${force || "all views"}?`);
  put($("what"), `This publishes ${force || "every view"} even if many rows disappear, as after the loss of a collection. What callers see then is what the store has.`);
  $("sure").showModal();
});
$("sure").addEventListener("close", () => document.querySelector(`[data-more="${forced}"]`)?.focus());
$("yes").addEventListener("click", () => { $("sure").close(); run(forced, true); });
$("no").addEventListener("click", () => $("sure").close());
$("reload").addEventListener("click", () => act("/admin/reload", "Reload",
  ({ adopted, refused, kept }) => (adopted?.join(", ") || "nothing has changed")
    + (refused?.length ? "; after a restart only: " + refused.join(", ") : "")
    + (kept?.length ? "; still in force because the file no longer names them: " + kept.join(", ") : "")));

$("explain").addEventListener("submit", async (event) => {
  event.preventDefault();
  const asks = new URLSearchParams(["url", "id", "user"].map((name) => [name, $(name).value.trim()]).filter(([, value]) => value));
  const key = $("key").value && { "X-API-Key": $("key").value };
  const show = (text) => { // the table of conditions is not wrapped
    const at = text.search(/^CLAUSE\s/m), [words, table] = $("explained").children;
    put(words, at < 0 ? text : text.slice(0, at));
    put(table, at < 0 ? "" : text.slice(at));
    table.hidden = at < 0;
    $("explained").hidden = false;
  };
  try {
    const res = await fetch("/admin/explain?" + asks, { headers: { ...headers(), ...key, Accept: "text/plain" } });
    show(res.ok ? await res.text() : await reason(res));
  } catch (e) {
    show(e.message);
  }
});

watch();
