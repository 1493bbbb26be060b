"use strict";
// What cockpit.js draws with: elements, numbers for people, rows of tables, charts and timelines.

const $ = (id) => document.getElementById(id);
const put = (node, text) => { if (node.textContent !== text) node.textContent = text; };

// say shows a text. One that is long, such as an error of a database's driver, is clipped until a reader opens it.
const long = 160; // characters
function say(node, text) {
  const clipped = node.querySelector(":scope > .clip .words");
  if (text.length <= long) put(node, text);
  else if (clipped) put(clipped, text);
  else node.replaceChildren(clip(false, [text]));
}

// clip returns parts of a text that is clipped until it is open, and then what follows it.
function clip(open, text, ...more) {
  return make("details", { open, className: "clip" }, make("summary", {}, make("span", { className: "words" }, ...text)), ...more);
}

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
const ago = (at, now) => time(Math.max(0, Math.floor((now - at) / 1000)));
// clock is a moment by this machine's clock, with the date if it is long ago. It does not change each second, so that a
// screen reader does not read it again.
const clock = (at, now) => (now - at < 43_200_000 ? "" : new Date(at).toLocaleDateString("sv") + " ") + new Date(at).toLocaleTimeString("sv");
const since = (text, now) => text ? ago(Date.parse(text), now) : "–";
const times = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

// quantile of a histogram with cumulative buckets: the bound below which so many are.
function quantile(q, buckets, bounds, total) {
  if (!total) return undefined;
  const at = buckets.findIndex((n) => n >= q * total);
  return bounds[at < 0 ? bounds.length - 1 : at];
}

// rows keeps one row for each item, so that focus and open parts survive. cells returns texts; last may build more.
// On narrow screens the rows of a table with class "cards" are cards, which is no table any more for some browsers:
// so its parts have roles, and cells the names of their columns.
function rows(body, items, key, cells, last = () => {}) {
  const old = new Map([...body.children].map((tr) => [tr.dataset.key, tr]));
  const heads = body.parentNode.tHead?.rows[0].cells ?? [];
  items.forEach((item, i) => {
    const id = key(item), texts = cells(item);
    let tr = old.get(id);
    old.delete(id);
    if (!tr) {
      tr = make("tr");
      tr.dataset.key = id;
      for (let n = 0; n < Math.max(texts.length, heads.length); n++) {
        const cell = tr.appendChild(n ? make("td") : make("th", { scope: "row" }));
        if (!heads[n]) continue;
        tr.setAttribute("role", "row");
        cell.setAttribute("role", n ? "cell" : "rowheader");
        cell.className = heads[n].className;
        cell.dataset.label = heads[n].textContent;
      }
    }
    texts.forEach((text, n) => say(tr.children[n], String(text)));
    last(tr, item, texts.length);
    if (body.children[i] !== tr) body.insertBefore(tr, body.children[i] ?? null);
  });
  for (const tr of old.values()) tr.remove();
}

// failed counts the requests with 5xx. A balancer that asks whether the server is ready is no failure.
const failed = (series) => series.reduce((sum, s) => sum + (s.labels.class === "5xx" && s.labels.endpoint !== "readyz" ? s.value : 0), 0);

// Charts. A point has what they show of one moment: sums over all series.
let points = [];
function pointOf(metrics, at) {
  const values = {}, buckets = [];
  for (const name in metrics) values[name] = metrics[name].series?.reduce((sum, s) => sum + s.value, 0);
  const series = metrics.vitrine_request_seconds?.series ?? [];
  for (const s of series) s.buckets?.forEach((n, i) => { buckets[i] = (buckets[i] ?? 0) + n; });
  return { at, values, buckets, failed: failed(series) };
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
