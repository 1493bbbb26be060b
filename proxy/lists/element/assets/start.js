// The builder of the start page: shows a list as it is chosen, and fills in the snippets.

const builder = document.getElementById("vl_builder");
const form = builder.querySelector("fieldset");
const list = document.getElementById("vl_list");
const status = document.getElementById("vl_status");
const years = document.getElementById("vl_years");
const preview = document.getElementById("vl_preview");
const title = document.getElementById("vl_title");
const typed = [...form.querySelectorAll("[data-facet]")]; // fields of several values, with suggestions
const known = new Map(typed.map((field) => [field, new Map()])); // values by their texts
const offers = new Map(); // the texts that fields suggest now
const subjects = ["person", "unit", "project", "topic"]; // the server finds them by name, as it does records
const counted = [...new Set(typed.map((field) => field.dataset.facet))].filter((name) => name !== "ids").join();
const base = builder.dataset.base || location.origin;
const shownYears = 40; // of the chart
const pause = 250; // between the last key and the request
let request; // AbortController of the one under way

// split returns the texts of a field between commas. The last one may be empty. Known texts may have commas.
function split(field) {
  const parts = field.value.split(","), all = [];
  while (parts.length) {
    let n = parts.length;
    while (n > 1 && !known.get(field).has(parts.slice(0, n).join().trim())) n--;
    all.push(parts.splice(0, n).join().trim());
  }
  return all;
}

// values returns the values of a field. Subjects must be known; other values may be typed as they are.
function values(field) {
  return split(field).filter(Boolean).map((text) => known.get(field).get(text) ?? (subjects.includes(field.dataset.facet) ? undefined : { id: text }));
}

// offer suggests texts for the last value of a field, or those of before.
function offer(field, texts = offers.get(field) ?? []) {
  offers.set(field, texts);
  const before = split(field).slice(0, -1).map((text) => `${text}, `).join("");
  field.list.replaceChildren(...texts.map((text) => new Option(known.get(field).get(text)?.count ?? "", before + text)));
}

// learn suggests values, and returns their texts.
function learn(field, found) {
  const texts = found.map(({ id, title, href, count }) => {
    const named = title !== id && field.dataset.facet !== "keyword"; // a keyword is its own name
    const text = named ? `${title} (${id})` : title;
    known.get(field).set(text, { id, title, count, href: href ?? known.get(field).get(text)?.href });
    return text;
  });
  offer(field, texts);
  return texts;
}

// keywords asks for the keywords with the text of a field's last value in them: of the records that the text finds.
async function keywords(field) {
  const text = split(field).at(-1), part = text.toLowerCase();
  const { lang } = document.documentElement;
  const asked = new URLSearchParams({ "and.q": text, facets: "keyword", limit: 1, lang });
  const response = await fetch(`${new URL(list.value, base).pathname}.json?${asked}`);
  if (!response.ok) return [];
  const { facets } = await response.json();
  const found = facets.keyword.map(({ value, label, count }) => ({ id: value, title: label, count }));
  return learn(field, found.filter(({ id, title }) => `${title}\n${id}`.toLowerCase().includes(part)));
}

// find asks for what has the words of a field's last value in its name.
async function find(field) {
  const { facet } = field.dataset;
  if (facet === "keyword") return keywords(field);
  const root = new URL(builder.dataset.base || "/", location).pathname.replace(/\/$/, "");
  const asked = new URLSearchParams({ q: split(field).at(-1), limit: 50, lang: document.documentElement.lang });
  const response = await fetch(facet === "ids" ? `${new URL(list.value, base).pathname}.json?${asked}&facets=none` : `${root}/lists.json?${asked}`);
  if (!response.ok) return [];
  const { sections, items } = await response.json();
  return learn(field, items ?? sections.find(({ kind }) => kind === facet)?.lists ?? []);
}

// place returns the list that is chosen: instead of everything, that of the first subject that stands alone. An
// include in nginx or Apache cannot have a slash in a name.
function place() {
  for (const field of list.value.endsWith("/lists/activities") ? subjects.map((name) => form.elements[name]) : []) {
    const [one, ...others] = field ? values(field) : [];
    if (one?.href && !others.length && !/%2f/i.test(one.href)) return { field, ...one };
  }
  return { href: list.value, title: list.selectedOptions[0].text };
}

// query returns the parameters that are chosen.
function query(more = {}) {
  const all = new URLSearchParams();
  const { field: chosen } = place();
  for (const field of form.elements) {
    if (!field.name || field === chosen || (field.type === "checkbox" && !field.checked)) continue;
    const plain = (text) => (field.dataset.facet === "year" ? text : text.replace(/[\\,]|\.(?=\.)/g, "\\$&"));
    const value = known.has(field) ? values(field).filter(Boolean).map(({ id }) => plain(id)).join() : field.value.trim();
    if (value) all.set(field.name, all.has(field.name) ? `${all.get(field.name)},${value}` : value);
  }
  for (const [name, value] of Object.entries(more)) all.set(name, value);
  return all;
}

// offered returns parameters by which the server also counts what could be chosen instead: those of a reader, since what
// an editor chooses is a frame.
function offered(chosen) {
  const selects = /^(?:q|(?:not\.)?(?:year|type|subtype|unit|person|project|topic|keyword|oa)|ids|exclude)$/;
  return new URLSearchParams([...chosen].map(([name, value]) => [selects.test(name) ? `and.${name}` : name, value]));
}

// get asks this server, whatever name it gives itself in the addresses of lists.
async function get(suffix, asked) {
  const response = await fetch(`${new URL(place().href, base).pathname}${suffix}?${asked}`, { signal: request.signal });
  if (!response.ok) throw new Error(response.status === 400 ? (await response.json()).msg : form.dataset.failed);
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
  for (const field of typed) {
    const { facet } = field.dataset, all = found[facet] ?? [];
    field.parentElement.hidden = facet !== "ids" && all.length === 0 && !field.value;
    // Of everything the server knows the subjects; of other lists it names only the most frequent.
    if (facet === "ids" || (subjects.includes(facet) && list.value.endsWith("/lists/activities"))) continue;
    if (facet === "keyword" && sought(field)) continue; // it suggests those with the typed text
    const own = all.map(({ value, label, count }) => ({ id: String(value ?? "missing"), title: label ?? String(value), count }));
    const numbers = own.filter(({ id }) => id > 0).map(({ id }) => id).sort();
    const ranges = facet === "year" && numbers.length ? ["last3", "last5", `${numbers[0]}..${numbers.at(-1)}`] : [];
    learn(field, [...ranges.map((id) => ({ id, title: id })), ...own]);
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
  preview.querySelector(".vl-box").replaceChildren(...(title.value.trim() ? [make("h4", "vl-title", title.value.trim())] : []), found);
  preview.hidden = false;
}

// snippets writes the chosen list into the snippets.
function snippets() {
  const chosen = String(query());
  const { href, title: own } = place();
  const escape = (text) => text.replace(/[&<>"'\\{]/g, (c) => `&#${c.charCodeAt()};`);
  const level = `h${form.elements.h?.value || 2}`, wanted = title.value.trim();
  const heading = wanted && `<${level}>${escape(wanted)}</${level}>`;
  const { hostname: host, host: authority, port, pathname } = new URL(base);
  const options = [...form.querySelectorAll("[data-option]:checked")].map((box) => ` ${box.dataset.option}`).join("") + (wanted && " untitled");
  const shown = query().get("facets")?.replaceAll(",", " ") ?? "year type";
  // The element leaves out these suffixes.
  const to = href.slice(builder.dataset.base.length).replace(/\.(html|json)$/, "%2E$1");
  const path = (suffix, ...more) =>
    [to + suffix, [chosen, ...more].filter(Boolean).join("&")].filter(Boolean).join("?");
  const bare = wanted && "title=0", html = path(".html", bare);
  let key = 0x811c9dc5; // FNV-1a, as in proxy/lists/page
  for (const byte of new TextEncoder().encode(html)) key = Math.imul(key ^ byte, 0x01000193);
  const texts = {
    page: base + path(""), frame: base + path("", "embed=1", bare), html: base + html, bib: base + path(".bib"), path: html.replaceAll("$", "%24"), key: (key >>> 0).toString(36),
    title: wanted || own, base, host, authority, port: port || "80", root: pathname.replace(/\/$/, ""), facets: shown, options,
  };
  for (const { dataset, firstChild } of builder.querySelectorAll("[data-form]")) {
    const form = dataset.form.replace(/^(.*)\{heading\}\n/gm, (_, before) => heading && `${before}${heading}\n`);
    firstChild.data = form.replace(/\{([a-z]+)\}/g, (whole, name) => (!(name in texts) ? whole : "markup" in dataset ? escape(texts[name]) : texts[name]));
  }
}

async function update() {
  request?.abort();
  const current = request = new AbortController();
  snippets();
  try {
    const [found, html] = await Promise.all([get(".json", offered(query({ facets: counted, limit: 1 }))), get(".html", query({ h: 4, jsonld: 0, ...(title.value.trim() && { title: 0 }) }))]);
    if (current !== request) return;
    choices(found.facets ?? {});
    chart(found.facets?.year ?? []);
    show(html);
    const unknown = typed.filter((field) => values(field).includes(undefined));
    for (const field of typed) field.ariaInvalid = String(unknown.includes(field));
    status.textContent = unknown.length ? form.dataset.pick : preview.querySelector(".vl-count")?.textContent ?? "";
  } catch ({ name, message }) {
    if (current === request) status.textContent = name === "Error" ? message : form.dataset.failed;
  }
}

// sought reports whether the server may find what the last value of a field names.
function sought(field) {
  const text = known.has(field) && split(field).at(-1);
  return text && [...subjects, "ids", "keyword"].includes(field.dataset.facet) && !known.get(field).has(text);
}

let timer;
form.addEventListener("input", ({ target }) => {
  if (target === list) for (const field of typed) field.value = "";
  if (known.has(target)) offer(target);
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (sought(target)) await find(target).catch(() => []);
    update();
  }, pause);
});
form.addEventListener("focusin", ({ target }) => {
  if (known.get(target)?.size === 0) find(target).catch(() => []); // the first ones, to choose from
});
// A name that was typed and not chosen counts if it is the only one.
form.addEventListener("change", async ({ target }) => {
  if (!sought(target)) return;
  const found = await find(target).catch(() => []);
  if (found.length !== 1) return;
  target.value = [...split(target).slice(0, -1), ...found].join(", ");
  update();
});
form.hidden = false;
update();
