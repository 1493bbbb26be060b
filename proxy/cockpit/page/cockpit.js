"use strict";
// The page shows the events of GET /admin/live. Nothing here remembers state but the charts' points.

const $ = (id) => document.getElementById(id);
const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function make(tag, props = {}, ...children) {
  const node = Object.assign(document.createElement(tag), props);
  node.append(...children);
  return node;
}

function drawing(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

// Numbers for people.
const count = (n) => Math.round(n).toLocaleString("en");
const scaled = (n, units, step) => {
  let i = 0;
  for (; n >= step && i < units.length - 1; i++) n /= step;
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
};
const bytes = (n) => scaled(n, ["B", "KiB", "MiB", "GiB"], 1024);
const time = (s) => s === undefined || Number.isNaN(s) ? "–" : s < 1 && s > 0 ? `${+(s * 1000).toPrecision(2)} ms` : s < 120 ? `${Math.round(s)} s`
  : s < 7200 ? `${Math.round(s / 60)} min` : s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} d`;
const since = (text, now) => text ? time(Math.max(0, Math.floor((now - Date.parse(text)) / 1000))) : "–";

// quantile of a histogram with cumulative buckets: the bound below which so many are.
function quantile(q, buckets, bounds, total) {
  if (!total) return undefined;
  const at = buckets.findIndex((n) => n >= q * total);
  return bounds[at < 0 ? bounds.length - 1 : at];
}

// rows keeps one row for each item, so that focus and open parts survive. cells returns texts; last may build more.
function rows(body, items, key, cells, last = () => {}) {
  const old = new Map([...body.children].map((tr) => [tr.dataset.key, tr]));
  items.forEach((item, i) => {
    const id = key(item), texts = cells(item);
    let tr = old.get(id);
    old.delete(id);
    if (!tr) {
      tr = make("tr");
      tr.dataset.key = id;
      texts.forEach((text, n) => tr.append(n ? make("td") : make("th", { scope: "row" })));
    }
    texts.forEach((text, n) => {
      put(tr.children[n], String(text));
      tr.children[n].classList.toggle("n", /^[\d,.]+( \w+)?$|^–$/.test(text));
    });
    last(tr, item, texts.length);
    if (body.children[i] !== tr) body.insertBefore(tr, body.children[i] ?? null);
  });
  for (const tr of old.values()) tr.remove();
}

// Charts. A point has what they show of one moment: sums over all series.
let points = [];
function pointOf(metrics, at) {
  const values = {}, buckets = [];
  for (const name in metrics) values[name] = metrics[name].series?.reduce((sum, s) => sum + s.value, 0);
  const series = metrics.vitrine_request_seconds?.series ?? [];
  for (const s of series) s.buckets?.forEach((n, i) => { buckets[i] = (buckets[i] ?? 0) + n; });
  return { at, values, buckets, failed: series.reduce((sum, s) => sum + (s.labels.class === "5xx" ? s.value : 0), 0) };
}
const difference = (a, b, name) => (b.values[name] ?? 0) - (a.values[name] ?? 0);
const rate = (of) => (a, b) => of(a, b) / Math.max((b.at - a.at) / 1000, 0.001);
const inWindow = (q) => (a, b, i) => { // of the last ten points
  const from = points[Math.max(0, i - 10)], total = difference(from, b, "vitrine_request_seconds");
  return quantile(q, (b.buckets ?? []).map((n, at) => n - (from.buckets?.[at] ?? 0)), bounds, total);
};
let bounds = [];
const asked = (a, b) => difference(a, b, "vitrine_results_hits_total") + difference(a, b, "vitrine_requests_repeated_total");
const charts = [
  ["Requests a second", (n) => n < 10 ? n.toFixed(1) : count(n), rate((a, b) => difference(a, b, "vitrine_request_seconds"))],
  ["Failures a second (5xx)", (n) => n.toFixed(1), rate((a, b) => b.failed - a.failed)],
  ["Latency, p99 and p50", time, inWindow(0.99), inWindow(0.5)],
  ["Answers from memory", (n) => `${Math.round(n)} %`, (a, b) => { const hits = asked(a, b), all = hits + difference(a, b, "vitrine_results_loads_total"); return all ? 100 * hits / all : undefined; }],
  ["Memory of the process", bytes, (a, b) => b.values.process_resident_memory_bytes],
  ["Connections", count, (a, b) => b.values.vitrine_connections],
];

function draw() {
  charts.forEach(([name, show, ...lines], n) => {
    const figure = $("charts").children[n] ?? $("charts").appendChild(make("figure", {}, make("figcaption", { textContent: name }), make("strong"),
      drawing("svg", { viewBox: "0 0 100 30", preserveAspectRatio: "none", role: "img" })));
    const [, strong, svg] = figure.children;
    const values = lines.map((line) => points.slice(1).map((b, i) => b.at > points[i].at ? line(points[i], b, i + 1) : undefined));
    const known = values.flat().filter((v) => v !== undefined), top = Math.max(...known, 0) || 1;
    const newest = values.map((v) => v.findLast((x) => x !== undefined));
    put(strong, newest.map((v) => v === undefined ? "–" : show(v)).join(" / "));
    svg.setAttribute("aria-label", `${name}: ${strong.textContent}; at most ${known.length ? show(top) : "–"} in the last minutes`);
    const first = points[1]?.at ?? 0, span = Math.max((points.at(-1)?.at ?? 0) - first, 1);
    svg.replaceChildren(...values.map((line) => drawing("polyline", { "vector-effect": "non-scaling-stroke",
      points: line.map((v, i) => v === undefined ? "" : `${(100 * (points[i + 1].at - first) / span).toFixed(1)},${(29 - 28 * v / top).toFixed(1)}`).join(" ").trim(),
    })));
  });
}

// timeline draws a view's runs of the last day.
function timeline(svg, slots, now) {
  const heights = { unchanged: 4, published: 7 }, bad = slots.filter((s) => !(s.worst in heights)).length;
  const runs = slots.reduce((sum, s) => sum + s.runs, 0), begin = now / 1000 - 95 * 900;
  svg.setAttribute("aria-label", `${count(runs)} runs` + (bad ? `, in ${bad} quarters of an hour held, missed or failed` : ""));
  svg.replaceChildren(...slots.map((s) => {
    const height = heights[s.worst] ?? 10;
    const bar = drawing("rect", { x: ((s.at - begin) / 900).toFixed(2), y: 10 - height, width: 0.9, height, class: s.worst });
    const title = drawing("title", {});
    title.textContent = `${new Date(s.at * 1000).toLocaleTimeString()}: ${s.worst}, ${s.runs} runs, ${s.changed} rows changed, ${time(s.seconds)}`;
    bar.append(title);
    return bar;
  }));
}

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
