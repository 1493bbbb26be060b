"use strict";
// The page shows the events of GET /admin/live. Nothing here remembers state but the charts' points.

function served(v) {
  if (!v.loaded) return v.error ? "not loaded: " + v.error : v.held ? "held: " + v.held : "loading";
  return v.held ? "held: " + v.held : v.stale ? "unconfirmed" : v.error ? "failing: " + v.error : v.mode === "store" ? "from the store" : "from memory";
}

function lastRun(job, next, now) {
  return [job.status ? `${job.status}${job.error ? ": " + job.error : ""}, ${since(job.started, now)} ago, ${time(job.seconds)}` : "none yet",
    job.empty && "no records", next && (next.value < 0 ? "overdue" : "next in " + time(Math.ceil(next.value)))].filter(Boolean).join(", ");
}

function showViews(views, runs, next, now) {
  rows($("views").tBodies[0], views, (v) => v.view,
    (v) => [v.view, count(v.rows), count(v.generation), since(v.published, now), served(v), lastRun(v.job, next?.series.find((s) => s.labels.view === v.view), now)],
    (tr, v, n) => {
      if (!tr.children[n]) {
        const run = (text, force) => {
          const b = make("button", { textContent: text });
          b.setAttribute("aria-label", `${text} ${v.view}`);
          b.dataset.run = v.view;
          if (force) { b.dataset.force = ""; b.className = "grave"; }
          return b;
        };
        tr.append(make("td", {}, make("details", {}, make("summary"), make("ul"))),
          make("td", {}, drawing("svg", { viewBox: "0 0 96 10", preserveAspectRatio: "none", role: "img", class: "runs" })), make("td", {}, run("Refresh"), run("Force", true)));
      }
      tr.children[4].classList.toggle("bad", Boolean(v.held || v.stale || v.error));
      tr.children[5].classList.toggle("bad", ["held", "error"].includes(v.job.status));
      const details = tr.children[n].firstChild, skips = v.job.skips ?? [];
      details.hidden = !v.job.skipped;
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
    const e = endpoints.get(s.labels.endpoint) ?? { name: s.labels.endpoint, total: 0, sum: 0, buckets: [] };
    endpoints.set(e.name, e);
    e[s.labels.class] = s.value;
    e.total += s.value;
    e.sum += s.sum ?? 0;
    e.buckets = s.buckets.map((n, i) => n + (e.buckets[i] ?? 0));
  }
  rows($("requests").tBodies[0], [...endpoints.values()].sort((a, b) => b.total - a.total), (e) => e.name,
    (e) => [e.name, ...["2xx", "3xx", "4xx", "5xx"].map((c) => count(e[c] ?? 0)), time(e.sum / e.total), ...[0.5, 0.99].map((q) => time(quantile(q, e.buckets, f.bounds, e.total)))],
    (tr, e) => tr.children[4].classList.toggle("bad", Boolean(e["5xx"])));
}

function refreshed(run, now) {
  if (!run) return "none here";
  const parts = [`${since(run.began, now)} ago, ${time(run.seconds)}: ${count(run.due)} due`];
  for (const part of ["changed", "failed", "removed"]) if (run[part]) parts.push(`${count(run[part])} ${part}`);
  return parts.join(", ");
}

function showKept(rules, now) {
  $("kept").closest("section").hidden = !rules.length;
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

const pairs = (id, list) => rows($(id), list.filter(([, value]) => value !== undefined && value !== ""), (p) => p[0], (p) => p);

// figures shows metrics as they explain themselves; its card is hidden if there are none.
function figures(id, metrics, wanted) {
  const list = [];
  for (const [name, f] of Object.entries(metrics)) {
    for (const s of f.series) {
      if (!wanted(name, s.labels ?? {})) continue;
      const [, asks] = f.help.match(/^1 if (.*), otherwise 0\.$/) ?? [];
      list.push([[asks ?? f.help.replace(/\.$/, ""), ...Object.values(s.labels ?? {})].join(": "),
        asks ? (s.value ? "yes" : "no") : name.endsWith("_bytes") ? bytes(s.value) : count(s.value)]);
    }
  }
  $(id).closest("section").hidden = !list.length;
  pairs(id, list);
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
  contact(!state.ready ? "Starting: not all views are loaded" : state.degraded ? "Degraded: " + state.degraded : "Ready", !state.ready || state.degraded ? "bad" : "good");
  draw();
  showViews(state.views, e.runs ?? {}, metrics.vitrine_job_next_seconds, now);
  showRequests(metrics.vitrine_request_seconds);
  showKept(state.kept ?? [], now);
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
  figures("keys", metrics, (name, labels) => "key" in labels);
  figures("upstream", metrics, (name) => name.startsWith("vitrine_upstream_"));
  figures("purge", metrics, (name) => name.startsWith("vitrine_purge_"));
  $("quiet").hidden = e.log?.length > 0;
  const lines = (e.log ?? []).toReversed();
  rows($("log"), lines.map((line, i) => [i, line]), ([i]) => String(i), ([, { time: at, level, msg, ...rest }]) =>
    [new Date(at).toLocaleString(), level, [msg, ...Object.entries(rest).map(([k, v]) => `${k}=${v}`)].join(" ")]);
  $("reload").hidden = !state.actions.includes("POST /admin/reload");
}

// The stream. EventSource cannot send the token, so fetch reads it.
const contact = (text, kind) => { put($("contact"), text); $("contact").className = kind; };
const headers = () => { const token = sessionStorage.getItem("token"); return token ? { Authorization: "Bearer " + token } : {}; };
const reason = async (res) => (await res.json().catch(() => ({}))).msg ?? `HTTP ${res.status}`;
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
      contact(`No contact: ${e.message}. Trying again …`, "bad");
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

let forced = "";
document.addEventListener("click", (event) => {
  const { run: view, force } = event.target.dataset;
  if (view === undefined) return;
  if (force === undefined) return run(view, false);
  forced = view;
  put($("what"), `This publishes ${view || "every view"} even if many rows disappear, as after the loss of a collection.`);
  $("sure").showModal();
});
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
  $("explained").hidden = false;
  try {
    const res = await fetch("/admin/explain?" + asks, { headers: { ...headers(), ...key } });
    put($("explained"), res.ok ? JSON.stringify(await res.json(), null, 2) : await reason(res));
  } catch (e) {
    put($("explained"), e.message);
  }
});

watch();
