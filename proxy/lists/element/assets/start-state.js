// What is chosen in the builder: as parameters of the list, as attributes of the element, and as the builder's
// address.
//
//	form ──query──▶ parameters of the list ──▶ address of the list, snippets, preview
//	form ◀─apply── state ──▶ #list=activities&person=jdoe&group=year&with=search,more
//
// The address also has what lists of the other kind had, as kept.group=year, so that it comes back with them.

import {
  applies, base, builder, chosen, fill, form, kind, list, plain, subjects, typed, values,
} from "./start-fields.js";

const as = document.getElementById("vl_as");
const title = document.getElementById("vl_title");
const untitled = document.getElementById("vl_untitled");
const options = [...form.querySelectorAll("[data-option]")];
const defaultOptions = options.filter((box) => box.defaultChecked).map((box) => box.dataset.option).join();

// parts are the fields of parameters: a parameter may have several, and others in lists of persons.
const fields = [...form.elements].filter(({ name, type }) => name && type !== "button");
const partOf = (field) => `${field.name} ${field.closest("[data-of]")?.dataset.of}`;
const parts = [...Map.groupBy(fields, partOf).values()];

const pathOf = (option) => new URL(option.value, base).pathname.split("/lists/").at(-1);

// place returns the list that is chosen: instead of everything, that of the first subject that stands alone. An
// include in nginx or Apache cannot have a slash in a name.
export function place() {
  for (const field of list.value.endsWith("/lists/activities") ? subjects.map((name) => form.elements[name]) : []) {
    const [one, ...others] = field ? values(field) : [];
    if (one?.href && !others.length && !/%2f/i.test(one.href)) return { field, ...one };
  }
  return { href: list.value, title: list.selectedOptions[0].text };
}

// text returns what is chosen in the fields of a parameter. Boxes that are as they were at first say nothing.
function text(fields) {
  if (fields[0]?.type === "checkbox") {
    const values = (state) => fields.filter((box) => box[state]).map((box) => box.value).join();
    return values("checked") === values("defaultChecked") ? "" : values("checked") || "none";
  }
  return fields.map((field) => {
    if (!typed.includes(field) && !chosen.has(field)) return field.value.trim();
    const ids = values(field).filter(Boolean).map(({ id }) => id);
    return (field.name.endsWith("year") ? ids : ids.map(plain)).join();
  }).filter(Boolean).join();
}

// query returns the parameters that are chosen, without that of a field.
export function query(without) {
  const all = new URLSearchParams();
  for (const fields of parts.filter(([field]) => applies(field))) {
    const value = text(fields.filter((field) => field !== without));
    if (value) all.set(fields[0].name, value);
  }
  return all;
}

// attributes returns the attributes of the element beside src. Selected records need no chips, unless they are
// wanted.
export function attributes() {
  const asked = query(), all = new Map();
  const facets = asked.get("facets") ?? (asked.has("ids") ? "none" : kind() === "persons" ? "unit" : "year,type");
  if (facets !== "none") all.set("facets", facets.replaceAll(",", " "));
  for (const box of options) if (box.checked && applies(box)) all.set(box.dataset.option, "");
  if (isUntitled()) all.set("untitled", "");
  return all;
}

export const heading = () => title.value.trim();
export const isUntitled = () => untitled.checked || heading() !== "";
export const way = () => as.value;

// encodeState returns a state as text for an address and for a comment in any language: it has no space, quote,
// bracket, asterisk, dollar, and no two hyphens.
function encodeState(state) {
  const escape = (text) => encodeURIComponent(text).replace(/[!'()*~]/g, (c) => `%${c.charCodeAt().toString(16)}`)
    .replaceAll("--", "-%2D").replace(/%2C/g, ",").replace(/%2F/g, "/");
  return [...state].map(([name, value]) => `${escape(name)}=${escape(value)}`).join("&");
}

// state returns all that is chosen, as text for an address. Snippets have no use for what is kept.
export function state(keep = true) {
  const all = new URLSearchParams({ list: pathOf(list.selectedOptions[0]), ...Object.fromEntries(query()) });
  for (const fields of keep ? parts.filter(([field]) => !applies(field)) : []) {
    if (text(fields)) all.set(`kept.${fields[0].name}`, text(fields));
  }
  if (heading()) all.set("heading", heading());
  if (untitled.checked) all.set("untitled", "1");
  const ticked = options.filter((box) => box.checked).map((box) => box.dataset.option).join();
  if (ticked !== defaultOptions) all.set("with", ticked || "none");
  if (as.selectedIndex > 0) all.set("as", as.value);
  const recipe = form.querySelector("[aria-pressed=true]");
  if (recipe) all.set("recipe", recipe.id.slice("vl_recipe-".length));
  return encodeState(all);
}

// edit returns the address at which the builder has the present state.
export const edit = () => `${base}/#${state(false)}`;

// apply fills in the form by a state. Unknown fields are ignored.
export async function apply(text) {
  const given = new URLSearchParams(text);
  const wanted = [...list.options].find((option) => pathOf(option) === given.get("list"));
  list.value = (wanted ?? list.options[0]).value;
  const filled = [];
  for (const fields of parts) {
    const [{ name, type }] = fields, value = given.get(applies(fields[0]) ? name : `kept.${name}`);
    const texts = (fields.length > 1 || type === "checkbox" ? value?.split(",") : value && [value]);
    if (typed.includes(fields[0]) || chosen.has(fields[0])) filled.push(fill(fields[0], value ?? ""));
    else if (type !== "checkbox") for (const [i, field] of fields.entries()) field.value = texts?.[i] ?? "";
    else for (const box of fields) box.checked = texts?.includes(box.value) ?? box.defaultChecked;
  }
  title.value = given.get("heading") ?? "";
  untitled.checked = given.get("untitled") === "1";
  const ticked = (given.get("with") ?? defaultOptions).split(",");
  for (const box of options) box.checked = ticked.includes(box.dataset.option);
  as.value = given.get("as") ?? as.options[0].value;
  if (as.selectedIndex < 0) as.selectedIndex = 0;
  for (const recipe of form.querySelectorAll("[aria-pressed]")) {
    recipe.ariaPressed = String(recipe.id === `vl_recipe-${given.get("recipe")}`);
  }
  await Promise.all(filled);
  // Open a fold that hides a field in use.
  for (const fold of form.querySelectorAll("details")) if (inUse(fold)) fold.open = true;
}

// inUse reports whether a fold has a field that is not as it was at first.
const inUse = (fold) => [...fold.querySelectorAll("input, select")].some((field) => applies(field) &&
  (field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value || chosen.get(field)?.length));
