// The builder of the start page: shows a list as it is chosen, and fills in the snippets.

const builder = document.getElementById("vl_builder");
const form = builder.querySelector("fieldset");
const list = document.getElementById("vl_list");
const status = document.getElementById("vl_status");
const years = document.getElementById("vl_years");
const preview = document.getElementById("vl_preview");
const facets = [...form.querySelectorAll("[data-facet]")];
const counted = facets.map((field) => field.name).join();
const base = builder.dataset.base || location.origin;
const shownYears = 40; // of the chart
const pause = 250; // between the last key and the request
let request; // AbortController of the one under way

// query returns the parameters that are chosen.
function query(more = {}) {
  const all = new URLSearchParams();
  for (const { name, value, dataset } of form.elements) {
    // A value has no commas of its own, since they separate values.
    if (name && value.trim()) all.set(name, "facet" in dataset ? value.replace(/[\\,]/g, "\\$&") : value.trim());
  }
  for (const [name, value] of Object.entries(more)) all.set(name, value);
  return all;
}

// get asks this server, whatever name it gives itself in the addresses of lists.
async function get(suffix, more) {
  const response = await fetch(`${new URL(list.value, base).pathname}${suffix}?${query(more)}`, { signal: request.signal });
  if (!response.ok) throw new Error(response.statusText);
  return suffix === ".json" ? response.json() : response.text();
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

// choices offers what the list has under the other filters.
function choices(found) {
  for (const field of facets) {
    const { name, value } = field;
    const values = found[name] ?? [];
    const options = values.map((v) => new Option(`${v.label ?? v.value} (${v.count})`, v.value ?? "missing"));
    if (value && !options.some((option) => option.value === value)) options.push(new Option(value, value));
    field.replaceChildren(new Option(form.dataset.any, ""), ...options);
    field.value = value;
    field.parentElement.hidden = options.length === 0;
  }
}

// chart draws the counts per year, the last year at the end.
function chart(values) {
  const all = values.filter(({ value }) => Number(value) > 0).sort((a, b) => a.value - b.value).slice(-shownYears);
  const most = Math.max(...all.map(({ count }) => count));
  years.querySelector("ol").replaceChildren(...all.map(({ value, count }) => {
    const bar = make("span", "vl-bar");
    bar.style.setProperty("--share", count / most);
    return make("li", "", bar, make("span", "vl-n", String(count)), " ", make("span", "vl-year", String(value)));
  }));
  years.hidden = all.length === 0;
}

// show puts the server's fragment into the preview. The server cleaned it; nothing of it runs,
// since it is parsed in a document of its own.
function show(html) {
  const found = new DOMParser().parseFromString(html, "text/html").querySelector(".vl-list");
  for (const script of found.querySelectorAll("script")) script.remove();
  preview.querySelector(".vl-box").replaceChildren(found);
  preview.hidden = false;
}

// snippets writes the chosen list into the snippets.
function snippets() {
  const chosen = String(query());
  const path = (suffix) => list.value.slice(builder.dataset.base.length) + suffix + (chosen && `?${chosen}`);
  const values = { page: base + path(""), html: base + path(".html"), bib: base + path(".bib"), path: path(".html").replaceAll("$", "%24"), title: list.selectedOptions[0].text, base };
  const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`);
  for (const { dataset, firstChild } of builder.querySelectorAll("[data-form]")) {
    firstChild.data = dataset.form.replace(/\{(page|html|bib|path|title|base)\}/g, (_, name) => ("markup" in dataset ? escape(values[name]) : values[name]));
  }
}

async function update() {
  request?.abort();
  const current = request = new AbortController();
  snippets();
  try {
    const [found, html] = await Promise.all([get(".json", { facets: counted, limit: 1 }), get(".html", { h: 4, jsonld: 0 })]);
    if (current !== request) return;
    choices(found.facets ?? {});
    chart(found.facets?.year ?? []);
    show(html);
    status.textContent = preview.querySelector(".vl-count")?.textContent ?? "";
  } catch {
    if (current === request) status.textContent = form.dataset.failed;
  }
}

let timer;
form.addEventListener("input", ({ target }) => {
  if (target === list) for (const field of facets) field.value = "";
  clearTimeout(timer);
  timer = setTimeout(update, pause);
});
form.hidden = false;
update();
