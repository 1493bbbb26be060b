// The fields of the builder: what they suggest, and the values that are chosen in them.
//
// A typed field has texts with commas between. What the server suggested is a known text, which stands for an id.
// Fields of records keep the chosen ones in a list of their own, in their order.

import { make } from "./list.js";

export const builder = document.getElementById("vl_builder");
export const form = document.getElementById("vl_form");
export const list = document.getElementById("vl_list");
export const base = builder.dataset.base || location.origin;
export const subjects = ["person", "unit", "project", "topic"]; // the server finds them by name, as it does records

// kind returns which fields the chosen list has: persons have others than all other entries. The form shows them by
// that. applies reports whether a field is one of them.
export const kind = () => ("persons" in list.selectedOptions[0].dataset ? "persons" : "others");
export const applies = (field) => [undefined, kind()].includes(field.closest("[data-of]")?.dataset.of);

const suggesting = [...form.querySelectorAll("[data-facet]")];
// chosen has the records of a field: their ids and titles.
const ofRecords = suggesting.filter(({ dataset }) => dataset.facet === "ids");
export const chosen = new Map(ofRecords.map((field) => [field, []]));
export const typed = suggesting.filter((field) => !chosen.has(field)); // fields of texts
export const counted = [...new Set(typed.map((field) => field.dataset.facet))].join();
const known = new Map(suggesting.map((field) => [field, new Map()])); // values by their texts
const offers = new Map(); // the texts that fields suggest now
const { lang } = document.documentElement;

const root = new URL(base).pathname.replace(/\/$/, "");

// here begins the addresses of this server by the name that the page has, which the page's policy allows. onServer
// returns the path of an address of a list.
export const here = location.origin + root;
export const onServer = (href) => new URL(href, base).pathname;

async function json(path, asked) {
  const response = await fetch(`${path}.json?${new URLSearchParams({ ...asked, lang })}`);
  return response.ok ? response.json() : {};
}

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
export function values(field) {
  if (chosen.has(field)) return chosen.get(field);
  const { facet } = field.dataset;
  const own = (text) => (subjects.includes(facet) ? undefined : { id: facet === "year" ? range(text) : text });
  return split(field).filter(Boolean).map((text) => known.get(field).get(text) ?? own(text));
}

// range returns years with a hyphen or a dash as lists write them.
const range = (text) => text.replace(/^(\d{4})\s*[-‐‑–—]\s*(\d{4})$/, "$1..$2");

// isHalfTyped reports whether a range of years is being typed, which the server refuses as it stands. Once the
// field is left, the server says what it wants.
export const isHalfTyped = (field) => field === document.activeElement && field.dataset.facet === "year" &&
  split(field).some((text) => /^\d{4}\s*(?:[-‐‑–—]\s*\d{0,3}|\.|\.\.\d{1,3})$/.test(text));

// offer suggests texts for the last value of a field, or those of before.
function offer(field, texts = offers.get(field) ?? []) {
  offers.set(field, texts);
  const before = chosen.has(field) ? "" : split(field).slice(0, -1).map((text) => `${text}, `).join("");
  const count = (text) => known.get(field).get(text)?.count ?? "";
  field.list.replaceChildren(...texts.map((text) => new Option(count(text), before + text)));
}

// addSuggestions suggests values, and returns their texts.
function addSuggestions(field, found) {
  const texts = found.map(({ id, title, href, count }) => {
    const named = title !== id && field.dataset.facet !== "keyword"; // a keyword is its own name
    const text = named ? `${title} (${id})` : title;
    known.get(field).set(text, { id, title, count, href: href ?? known.get(field).get(text)?.href });
    return text;
  });
  offer(field, texts);
  return texts;
}

// last returns the text that is typed now: records come one by one.
const last = (field) => (chosen.has(field) ? field.value.trim() : split(field).at(-1));

// find asks for what has the words of a field's last value in its name.
async function find(field, text = last(field)) {
  const { facet } = field.dataset, part = text.toLowerCase();
  if (facet === "ids") {
    const { items = [] } = await json(onServer(list.value), { q: text, limit: 50, facets: "none" });
    return addSuggestions(field, items);
  }
  if (facet !== "keyword") {
    const { sections = [] } = await json(`${root}/lists`, { q: text, limit: 50 });
    return addSuggestions(field, sections.find((section) => section.kind === facet)?.lists ?? []);
  }
  // The keywords with the text in them, of the records that the text finds.
  const { facets } = await json(onServer(list.value), { "and.q": text, facets: "keyword", limit: 1 });
  const all = (facets?.keyword ?? []).map(({ value, label, count }) => ({ id: value, title: label, count }));
  return addSuggestions(field, all.filter(({ id, title }) => `${title}\n${id}`.toLowerCase().includes(part)));
}

// searchable reports whether the server may find what a text of a field names, by default the last one.
function searchable(field, text = suggesting.includes(field) && last(field)) {
  const finds = [...subjects, "ids", "keyword"].includes(field.dataset.facet);
  return finds && Boolean(text) && !known.get(field).has(text);
}

// missing returns the fields whose texts name nothing that is known.
export const missing = () => suggesting.filter((field) => applies(field) &&
  (chosen.has(field) ? field.value.trim() : values(field).includes(undefined)));

// retain keeps the suggestions behind a comma that is typed.
export function retain(field) {
  if (suggesting.includes(field)) offer(field);
}

// suggest follows what is typed: it asks for suggestions, and takes a record that is chosen from them.
export async function suggest(field) {
  if (!suggesting.includes(field)) return;
  if (searchable(field)) await find(field).catch(() => []);
  moveToChosen(field);
}

// settle takes names that were typed and not chosen, each if it is the only one.
export async function settle(field) {
  if (!suggesting.includes(field)) return;
  if (!chosen.has(field)) return settleTexts(field);
  const whole = field.value.trim();
  // Records come one by one, but several ids may be pasted.
  if (/^[^\s,]+(?:\s*,\s*[^\s,]+)+$/.test(whole)) return addByIds(field, whole.split(",").map((id) => id.trim()));
  if (!searchable(field)) return moveToChosen(field);
  const found = await find(field).catch(() => []);
  if (!found.length) return addByIds(field, [whole]);
  if (found.length === 1) field.value = found[0];
  moveToChosen(field);
}

// settleTexts replaces each unknown text of a field by the name that it finds, if it finds only one.
async function settleTexts(field) {
  const before = field.value, parts = split(field), settled = [];
  if (!parts.some((text) => searchable(field, text))) return;
  while (parts.length) {
    const isUnknown = parts.map((text) => searchable(field, text));
    const end = [...isUnknown, false].indexOf(false);
    let found = [], size = 1;
    // A name may have a comma itself, as persons have: all that is unknown here is first read as one name.
    for (size of new Set([end, 2, 1])) {
      if (size > end) continue;
      found = await find(field, parts.slice(0, size).join(" ")).catch(() => []);
      if (found.length === 1) break;
    }
    const isSettled = found.length === 1, texts = parts.splice(0, isSettled ? size : 1);
    settled.push(...(isSettled ? found : texts));
  }
  if (field === document.activeElement && field.value !== before) return; // typing goes on
  field.value = settled.join(", ");
}

// moveToChosen moves a record from the text of its field to the chosen ones.
function moveToChosen(field) {
  const record = chosen.has(field) && known.get(field).get(field.value.trim());
  if (!record) return;
  if (!chosen.get(field).some(({ id }) => id === record.id)) chosen.get(field).push(record);
  field.value = "";
  showChosen(field);
}

// addByIds adds records by their ids. Those that the server does not have stay as text.
async function addByIds(field, ids) {
  const asked = { ids: ids.map(plain).join(), limit: Math.min(ids.length, 500), facets: "none" };
  const { items = [] } = await json(onServer(list.value), asked);
  const all = chosen.get(field);
  for (const { id, title } of items) if (!all.some((one) => one.id === id)) all.push({ id, title });
  field.value = field.dataset.gone = ids.filter((id) => !items.some((item) => item.id === id)).join(", ");
  showChosen(field);
}

// showChosen shows the chosen records by their titles, with buttons to move and to remove them.
function showChosen(field) {
  const all = chosen.get(field), shown = document.getElementById(`${field.id}-chosen`);
  const { up, down, remove } = form.dataset;
  const changed = (at, name) => {
    showChosen(field);
    const beside = shown.children[Math.min(at, all.length - 1)];
    (beside?.querySelector(`[name=${name}]:enabled, [name=remove]`) ?? field).focus();
    form.dispatchEvent(new Event("input"));
  };
  const move = (from, to, name) => () => {
    all.splice(to, 0, ...all.splice(from, 1));
    changed(to, name);
  };
  const button = (name, sign, text, title, click) =>
    make("button", { type: "button", name, "aria-label": `${text}: ${title}`, title: text, click }, sign);
  shown.hidden = !all.length;
  shown.replaceChildren(...all.map(({ id, title }, i) => {
    const buttons = [
      button("up", "↑", up, title, move(i, i - 1, "up")),
      button("down", "↓", down, title, move(i, i + 1, "down")),
      button("remove", "×", remove, title, () => { all.splice(i, 1); changed(i, "remove"); }),
    ];
    if (field.name === "exclude") buttons.splice(0, 2); // which have no order
    else for (const [at, edge] of [0, all.length - 1].entries()) buttons[at].disabled = i === edge;
    return make("li", { "data-id": id }, make("span", { dir: "auto" }, title), ...buttons);
  }));
}

// plain returns a value as parameters write it: with a backslash before its commas.
export const plain = (text) => text.replace(/[\\,]|\.(?=\.)/g, "\\$&");

// parse returns the values of a parameter.
const parse = (text) => (text.match(/(?:\\.|[^,\\])+/g) ?? [])
  .map((value) => value.replace(/\\(.)/g, "$1").trim()).filter(Boolean);

// fill sets a field to the values of a parameter. Their names may come later, see label.
export async function fill(field, text) {
  field.value = "";
  if (chosen.has(field)) {
    chosen.set(field, []);
    showChosen(field);
    return text && addByIds(field, parse(text));
  }
  const ids = parse(text);
  const ours = known.get(field);
  for (const id of ids) if (![...ours.values()].some((value) => value.id === id)) ours.set(id, { id });
  field.value = ids.join(", ");
  const { facet } = field.dataset;
  if (subjects.includes(facet)) await Promise.all(ids.map((id) => find(field, id).catch(() => [])));
  label(field);
}

// label gives the values of a field the texts that are known by now. The one that is typed stays.
function label(field) {
  if (field === document.activeElement) return;
  const others = [...known.get(field)].filter(([text, { id }]) => text !== id);
  const named = new Map(others.map(([text, { id }]) => [id, text]));
  field.value = split(field).map((text) => named.get(known.get(field).get(text)?.id) ?? text).join(", ");
}

// choices offers what the list has under the other filters.
export function choices(found) {
  for (const field of typed) {
    const { facet } = field.dataset, all = found[facet] ?? [];
    field.parentElement.hidden = !all.length && !field.value && !field.hasAttribute("data-asked");
    // Of everything the server knows the subjects; of other lists it names only the most frequent.
    if (subjects.includes(facet) && list.value.endsWith("/lists/activities")) continue;
    if (facet === "keyword" && searchable(field)) continue; // it suggests those with the typed text
    const own = all.map(({ value, label, count }) =>
      ({ id: String(value ?? "missing"), title: label ?? String(value), count }));
    const numbers = own.filter(({ id }) => id > 0).map(({ id }) => id).sort();
    const ranges = facet === "year" && numbers.length ? ["last3", "last5", `${numbers[0]}..${numbers.at(-1)}`] : [];
    addSuggestions(field, [...ranges.map((id) => ({ id, title: id })), ...own]);
    label(field);
  }
}

// first suggests the first values of a field that has none to suggest yet.
export function first(field) {
  if (known.get(field)?.size === 0) find(field).catch(() => []);
}
