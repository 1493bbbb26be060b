// The builder of the start page: shows a list as it is chosen, and fills in the snippets.

const builder = document.getElementById("vl_builder");
const form = builder.querySelector("fieldset");
const list = document.getElementById("vl_list");
const status = document.getElementById("vl_status");
const years = document.getElementById("vl_years");
const preview = document.getElementById("vl_preview");
const facets = [...form.querySelectorAll("[data-facet]")];
// Fields of what has a name: the server finds it. The list is that of the first one that is filled in.
const typed = ["person", "unit", "project", "topic"].map((name) => form.elements[name]).filter(Boolean);
const names = new Map(typed.map((field) => [field, new Map()])); // what is known by a text of the field
const counted = [...new Set(facets.map((field) => field.dataset.facet))].join();
const base = builder.dataset.base || location.origin;
const shownYears = 40; // of the chart
const pause = 250; // between the last key and the request
let request; // AbortController of the one under way

// named returns what a field names that one types into.
const named = (field) => names.get(field).get(field.value.trim());

// learn offers what has a name, and returns the texts that choose it.
function learn(field, found) {
  return found.map(({ id, title, href }) => {
    const text = title === id ? id : `${title} (${id})`;
    if (!names.get(field).has(text)) field.list.append(new Option("", text));
    names.get(field).set(text, { id, title, href: href ?? names.get(field).get(text)?.href });
    return text;
  });
}

// find asks for what has the words of a field in its name.
async function find(field) {
  const root = new URL(builder.dataset.base || "/", location).pathname.replace(/\/$/, "");
  const asked = new URLSearchParams({ q: field.value, limit: 50, lang: document.documentElement.lang });
  const response = await fetch(`${root}/lists.json?${asked}`);
  if (!response.ok) return [];
  const { sections } = await response.json();
  return learn(field, sections.find(({ kind }) => kind === field.name)?.lists ?? []);
}

// place returns the list that is chosen: instead of everything, that of what was named. An
// include in nginx or Apache cannot have a slash in a name.
function place() {
  const usable = (href) => href && !/%2f/i.test(href);
  const field = list.value.endsWith("/lists/activities") && typed.find((field) => usable(named(field)?.href));
  return field ? { field, ...named(field) } : { href: list.value, title: list.selectedOptions[0].text };
}

// query returns the parameters that are chosen.
function query(more = {}) {
  const all = new URLSearchParams();
  const { field: chosen } = place();
  for (const field of form.elements) {
    if (!field.name || field === chosen || (field.type === "checkbox" && !field.checked)) continue;
    const value = (names.has(field) ? named(field)?.id : field.value)?.trim();
    if (!value) continue;
    // A value has no commas of its own, since they separate values.
    const plain = "facet" in field.dataset ? value.replace(/[\\,]/g, "\\$&") : value;
    all.set(field.name, all.has(field.name) ? `${all.get(field.name)},${plain}` : plain);
  }
  for (const [name, value] of Object.entries(more)) all.set(name, value);
  return all;
}

// get asks this server, whatever name it gives itself in the addresses of lists.
async function get(suffix, more) {
  const response = await fetch(`${new URL(place().href, base).pathname}${suffix}?${query(more)}`, { signal: request.signal });
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
    const { value } = field;
    const values = found[field.dataset.facet] ?? [];
    if (names.has(field)) {
      // Of everything the server knows the lists; of other lists it names only the most frequent.
      if (!list.value.endsWith("/lists/activities")) learn(field, values.map(({ value: id, label: title }) => ({ id, title })));
      field.parentElement.hidden = values.length === 0 && !value;
      continue;
    }
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
  const { href, title: own } = place();
  const title = document.getElementById("vl_title").value.trim() || own;
  const { hostname: host, host: authority, port, pathname } = new URL(base);
  const options = [...form.querySelectorAll("[data-option]:checked")].map((box) => ` ${box.dataset.option}`).join("");
  const shown = query().get("facets")?.replaceAll(",", " ") ?? "year type";
  const path = (suffix) => href.slice(builder.dataset.base.length) + suffix + (chosen && `?${chosen}`);
  const values = { page: base + path(""), html: base + path(".html"), bib: base + path(".bib"), path: path(".html").replaceAll("$", "%24"), title, base, host, authority, port: port || "80", root: pathname.replace(/\/$/, ""), facets: shown, options };
  const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt()};`);
  for (const { dataset, firstChild } of builder.querySelectorAll("[data-form]")) {
    firstChild.data = dataset.form.replace(/\{(page|html|bib|path|title|base|host|authority|port|root|facets|options)\}/g, (_, name) => ("markup" in dataset ? escape(values[name]) : values[name]));
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
    const unknown = typed.filter((field) => field.value.trim() && !named(field));
    for (const field of typed) field.ariaInvalid = String(unknown.includes(field));
    status.textContent = unknown.length ? form.dataset.pick : preview.querySelector(".vl-count")?.textContent ?? "";
  } catch {
    if (current === request) status.textContent = form.dataset.failed;
  }
}

let timer;
form.addEventListener("input", ({ target }) => {
  if (target === list) for (const field of facets) field.value = "";
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (names.has(target) && target.value.trim() && !named(target)) await find(target).catch(() => []);
    update();
  }, pause);
});
form.addEventListener("focusin", ({ target }) => {
  if (names.get(target)?.size === 0) find(target).catch(() => []); // the first ones, to choose from
});
// A name that was typed and not chosen counts if it is the only one.
form.addEventListener("change", async ({ target }) => {
  if (!names.has(target) || !target.value.trim() || named(target)) return;
  const found = await find(target).catch(() => []);
  if (found.length !== 1) return;
  [target.value] = found;
  update();
});
form.hidden = false;
update();
