// The builder of the start page. Its state is in its address: each choice changes that, and so a list can be sent,
// kept and changed later.

import {
  applies, choices, chosen, counted, first, form, here, isHalfTyped, kind, list, missing, onServer, plain, retain,
  settle, suggest, typed, values,
} from "./start-fields.js";
import { make } from "./list.js";
import { apply, attributes, heading, place, query, state } from "./start-state.js";
import { address, write } from "./start-snippets.js";

const status = document.getElementById("vl_status");
const preview = document.getElementById("vl_preview");
const box = document.getElementById("vl_shown");
const ways = document.getElementById("vl_as");
const fold = document.getElementById("vl_fold");
const recipes = [...form.querySelectorAll("[aria-pressed]")];
const pause = 250; // between the last key and the request
let request; // AbortController of the one under way
let entries = ""; // what the list in the preview has

const recipe = () => recipes.find((button) => button.ariaPressed === "true");

// asked returns the fields that the recipe asks for. They are the first of their step.
const asked = () => (recipe()?.dataset.ask.match(/\S+/g) ?? [])
  .map((name) => [...form.elements].find((field) => field.name === name && applies(field))).filter(Boolean);
const homes = new Map(); // where they stand otherwise

function lead() {
  for (const [part, home] of homes) home.replaceWith(part);
  homes.clear();
  for (const { parentElement: part } of asked()) {
    const home = document.createComment("");
    part.replaceWith(home);
    homes.set(part, home);
    document.getElementById("vl_asked").append(part);
  }
}

// unanswered returns the fields that the recipe asks for and that are still empty.
const unanswered = () => asked().filter((field) => !values(field).length);

// countParams returns parameters by which the server also counts what could be chosen instead: those of a reader,
// since what an editor chooses is a frame.
function countParams(asked) {
  const selects = /^(?:q|(?:not\.)?(?:year|type|subtype|unit|person|project|topic|keyword|oa)|ids|exclude)$/;
  return new URLSearchParams([...asked].map(([name, value]) => [selects.test(name) ? `and.${name}` : name, value]));
}

// show makes the preview the element of the snippet. A new one is needed where it is isolated or no more: elements
// decide that once. The page's address is the builder's, so that the list cannot have it for its filters.
function show() {
  const wanted = attributes().set("src", address(here, ""));
  wanted.delete("linkable");
  let element = box.querySelector("vitrine-list");
  if (element?.hasAttribute("isolate") === wanted.has("isolate")) {
    // Drop what the visitor chose in the preview.
    for (const name of element.getAttributeNames()) if (!wanted.has(name)) element.removeAttribute(name);
    for (const [name, value] of wanted) if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  } else {
    element = make("vitrine-list", Object.fromEntries(wanted));
  }
  const level = `h${form.elements.h?.value || 2}`;
  const headed = heading() ? [make(level, { class: "vl-title", dir: "auto" }, heading())] : [];
  if (element.parentElement !== box) return box.replaceChildren(...headed, element);
  while (element.previousSibling) element.previousSibling.remove();
  element.before(...headed);
}

// report says what is missing, or else what the list has.
function report() {
  const open = unanswered(), unknown = missing();
  for (const field of [...typed, ...chosen.keys()]) {
    field.ariaInvalid = String(unknown.includes(field));
    field.toggleAttribute("data-asked", open.includes(field));
  }
  if (unknown.some((field) => field.dataset.gone !== field.value)) status.textContent = form.dataset.pick;
  else if (unknown.length) status.textContent = form.dataset.gone.replace("%s", unknown[0].value);
  else if (open.length) {
    const names = open.map((field) => field.labels[0].textContent).join(", ");
    status.textContent = form.dataset.ask.replace("%s", names);
  } else status.textContent = entries;
}

// update shows what is chosen everywhere. The address is replaced while one edits; a recipe is a step in the
// history.
async function update(step = "replaceState") {
  request?.abort();
  form.dataset.lists = kind();
  const current = request = new AbortController();
  const hash = `#${state()}`;
  if (step && hash !== location.hash) history[step](null, "", hash);
  for (const link of document.querySelectorAll(".vl-top a[lang]")) link.hash = hash;
  write();
  report();
  if (unanswered().length) box.replaceChildren(make("p", { class: "vl-hint" }, status.textContent));
  else show();
  preview.hidden = false;
  try {
    const counts = countParams(query(place().field));
    counts.set("facets", counted);
    counts.set("limit", 1);
    counts.set("lang", document.documentElement.lang);
    const response = await fetch(`${onServer(place().href)}.json?${counts}`, { signal: current.signal });
    const { facets } = response.ok ? await response.json() : {};
    if (current === request && facets) choices(facets);
  } catch { /* The preview says it. */ }
}

// restore fills in the form by the address. A link inside of the page leaves it as it is.
async function restore() {
  if (location.hash && !location.hash.includes("=")) return history.replaceState(null, "", `#${state()}`);
  await apply(location.hash.slice(1));
  lead();
  update(location.hash && "replaceState");
}

// matched returns the values of a facet of a list that have one of some words in them, as a parameter.
async function matched(facet, words) {
  const asked = new URLSearchParams({ facets: facet, limit: 1, lang: document.documentElement.lang });
  const response = await fetch(`${onServer(list.value)}.json?${asked}`);
  const { facets } = response.ok ? await response.json() : {};
  const has = ({ value, label }) => words.some((word) => `${value}\n${label}`.toLowerCase().includes(word));
  const found = (facets?.[facet] ?? []).filter(has);
  return found.map(({ value }) => plain(String(value))).join();
}

// cook fills in the form by a recipe, and leads to the field that is missing.
async function cook({ id, dataset }) {
  const wanted = new URLSearchParams(dataset.state);
  wanted.set("list", dataset.list.split("/lists/").at(-1));
  wanted.set("recipe", id.slice("vl_recipe-".length));
  wanted.set("as", ways.value);
  list.value = [...list.options].find((option) => option.value.endsWith(dataset.list)).value;
  const [facet, ...words] = dataset.match.split(" ");
  const found = facet && await matched(facet, words).catch(() => "");
  if (found) wanted.set(facet, found);
  await apply(String(wanted));
  lead();
  const updated = update("pushState");
  const [open] = unanswered();
  if (!open) return updated;
  open.parentElement.hidden = false;
  open.focus();
}

let timer;
form.addEventListener("input", ({ target }) => {
  if (target === list) {
    // Lists of one kind have different values; those of another kind have other fields, and these stay for the way
    // back.
    const same = form.dataset.lists === kind();
    for (const field of typed) if (same && applies(field)) field.value = "";
    for (const button of recipes) button.ariaPressed = "false";
    lead();
  }
  retain(target);
  clearTimeout(timer);
  timer = setTimeout(async () => {
    await suggest(target);
    if (!typed.some(isHalfTyped)) update();
  }, pause);
});
form.addEventListener("focusin", ({ target }) => first(target)); // the first values, to choose from
form.addEventListener("change", async ({ target }) => {
  if (![...typed, ...chosen.keys()].includes(target)) return;
  await settle(target);
  update();
});
form.addEventListener("submit", (event) => event.preventDefault());
for (const button of recipes) button.addEventListener("click", () => cook(button));
ways.addEventListener("change", () => update());
addEventListener("popstate", restore);

box.addEventListener("vitrine-load", () => {
  const element = box.querySelector("vitrine-list");
  entries = (element.shadowRoot ?? element).querySelector(".vl-count")?.textContent ?? "";
  report();
});
box.addEventListener("vitrine-error", ({ detail }) => {
  entries = form.dataset.failed;
  try {
    if (detail.status === 400) entries = JSON.parse(detail.message).msg;
  } catch { /* It is no error of ours. */ }
  report();
});
fold.addEventListener("click", () => {
  fold.ariaExpanded = String(fold.ariaExpanded !== "true");
  box.hidden = fold.ariaExpanded !== "true";
});

form.hidden = document.getElementById("vl_ways").hidden = false;
await restore();
