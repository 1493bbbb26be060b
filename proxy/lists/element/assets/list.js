// <vitrine-list src="…/lists/unit/BIO" facets="year type" search copy exports>
// The content of the element stays until the server answers. What src selects is the frame of the list. Attributes
// narrow it: when one changes, the element asks anew. See docs/embedding.md.

const here = new URL(import.meta.url);
const facetNames = ["year", "type", "subtype", "unit", "person", "project", "topic", "keyword", "oa"];
const narrowing = ["q", ...facetNames, ...facetNames.map((name) => `not.${name}`), "ids", "exclude"];
const filters = [...narrowing, "deep", "sort"];
// Exports have no looks.
const looks = ["group", "counts", "authors", "page", "limit", "h", "chart", "numbered", "jump", "pager"];
const flags = ["deep", "counts", "chart", "numbered", "jump"]; // need no value
const formats = {
  BibTeX: ".bib", RIS: ".ris", "CSL JSON": ".csl.json", CSV: ".csv", "JSON-LD": ".jsonld", Atom: ".atom",
};
const patience = 15_000; // milliseconds
const pause = 250; // from the last key to the search
const few = 8; // values of a facet in sight

const texts = {
  en: {
    search: "Search the list", all: "Show all", reset: "Remove filters", export: "Export", again: "Try again",
    copy: "Copy citation", text: "Copy", copied: "Citation copied.", more: "Load more",
    marked: "The citation is selected: copy it with the keyboard.",
    failed: "The list could not be updated just now.",
    year: "Year", type: "Type", subtype: "Kind", unit: "Unit", person: "Person", project: "Project", topic: "Topic",
    keyword: "Keyword", oa: "Open access",
  },
  de: {
    search: "Liste durchsuchen", all: "Alle zeigen", reset: "Filter aufheben", export: "Export",
    again: "Erneut versuchen", copy: "Zitat kopieren", text: "Kopieren", copied: "Zitat kopiert.",
    more: "Mehr laden", marked: "Das Zitat ist markiert: Kopieren Sie es mit der Tastatur.",
    failed: "Die Liste konnte gerade nicht aktualisiert werden.",
    year: "Jahr", type: "Art", subtype: "Unterart", unit: "Einheit", person: "Person",
    project: "Projekt", topic: "Thema",
    keyword: "Schlagwort", oa: "Open Access",
  },
};

// A page that requires Trusted Types allows this policy. If it does not, nothing is parsed and the list stays.
let policy = { createHTML: (html) => html };
try {
  policy = globalThis.trustedTypes?.createPolicy("vitrine-list", policy) ?? policy;
} catch { /* It does not. */ }

// make returns an element. Attributes that are functions are listeners.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const harmless = `a abbr article b bdi br cite code dd dl dt details div em figcaption figure g h1 h2 h3 h4 h5 h6 i
  img input label li mark nav ol p pre q rect s section small span strong sub sup summary svg table tbody td text th
  thead time title tr u ul wbr`.split(/\s+/);

// parse returns the list of an answer without anything that runs or loads, whatever the server is.
function parse(html, base) {
  const list = new DOMParser().parseFromString(policy.createHTML(html), "text/html").querySelector(".vl-list");
  if (!list) throw new Error("the answer has no list");
  for (const element of [list, ...list.querySelectorAll("*")]) {
    const image = element.localName === "img"; // a photo
    if (!harmless.includes(element.localName) || image && !element.matches(".vl-photo")) element.remove();
    if (image) Object.assign(element, { loading: "lazy", referrerPolicy: "no-referrer" });
    for (const { name, value } of [...element.attributes]) {
      const loads = element instanceof SVGElement && /[\\(]/.test(value); // url(…)
      if (loads || /^on|^style$|^background$|^srcset$|:/.test(name)) element.removeAttribute(name);
    }
    if (element.localName === "input") element.type = "checkbox"; // that unfolds names
    for (const [name, allowed] of [["href", /^(?:https?|mailto|tel):$/], ["src", /^https?:$/]]) {
      const address = element.getAttribute(name);
      if (address === null || name === "href" && address.startsWith("#")) continue;
      const url = URL.canParse(address, base) && new URL(address, base);
      if (url && allowed.test(url.protocol)) element.setAttribute(name, url);
      else element.removeAttribute(name);
    }
  }
  return list;
}

async function load(url, signal, cache) {
  const response = await fetch(url, { signal, cache, credentials: "omit" });
  const text = await response.text();
  if (response.ok) return text;
  throw Object.assign(new Error(text.slice(0, 500)), { status: response.status });
}

let typing; // the element whose search is the last entry of the history

class VitrineList extends HTMLElement {
  static observedAttributes = [
    "src", "facets", "lang", "citation-style", "untitled", "show", "search", "copy", "more", "exports",
    ...filters, ...looks,
  ];

  #root; #tools; #chips; #status; #main; // parts, made when the element is first connected
  #connection; // AbortController until the element leaves the page
  #request; // AbortController of the request under way
  #planned; // promise of the update that follows
  #shown; // the answer that is shown, as text
  #counts = {}; // URL and facets of the last answer with facets
  #asked = 0; // when the server was last asked
  #acted = false; // by the visitor
  #turned = false; // the page, by the visitor
  #goal = ""; // the end of the id of the group to show
  #longer = false; // the visitor loaded more than a page
  #own = {}; // the attributes that visitors may change, as the page has them
  #entry = ""; // what the visitor changed, until the address has it

  connectedCallback() {
    if (!this.#root) this.#build();
    this.#connection = new AbortController();
    if (this.hasAttribute("linkable")) {
      addEventListener("popstate", () => this.#read(true), { signal: this.#connection.signal });
      this.#read(false);
    }
    document.addEventListener("visibilitychange", () => {
      const age = Number(this.getAttribute("refresh") ?? 300); // seconds
      const old = age > 0 && Date.now() - this.#asked > age * 1000;
      if (old && !document.hidden && !this.#longer) this.#update("no-cache");
    }, { signal: this.#connection.signal });
    this.#plan();
  }

  disconnectedCallback() {
    this.#connection.abort();
    this.#request?.abort();
    this.#request = undefined;
  }

  attributeChangedCallback(name, before, after) {
    if (!this.#root || before === after) return;
    if (name === "copy" || name === "more") this.#shown = undefined; // to be made anew
    if (name !== "page" && name !== "lang") this.removeAttribute("page"); // it was one of another list
    this.#plan();
  }

  get #lang() {
    const asked = this.lang || /[?&]lang=(\w+)/.exec(this.getAttribute("src"))?.[1];
    return /^de\b/i.test(asked || this.closest("[lang]")?.lang || navigator.language) ? "de" : "en";
  }

  get #texts() { return texts[this.#lang]; }

  // #build puts the parts around what is there. A copy of an element has them already.
  #build() {
    const content = [...(this.querySelector(":scope > .vl-main") ?? this).childNodes];
    this.#tools = make("div", { class: "vl-tools" });
    this.#chips = make("div", { class: "vl-facets" });
    this.#status = make("p", { class: "vl-status", role: "status" });
    this.#main = make("div", { class: "vl-main", tabindex: -1, click: (event) => this.#click(event) });
    const isolated = this.hasAttribute("isolate");
    const style = isolated ? [make("link", { rel: "stylesheet", href: new URL("list.css", here) })] : [];
    this.#root = isolated ? this.attachShadow({ mode: "open" }) : this;
    this.#main.append(...(isolated ? [make("slot")] : content));
    this.#root.replaceChildren(...style, this.#tools, this.#chips, this.#status, this.#main);
    for (const name of [...filters, "page"]) this.#own[name] = this.getAttribute(name) ?? "";
  }

  // #linked returns the attributes that visitors change, by their names in the page's address. A change of another
  // attribute removes page, which is the last.
  get #linked() {
    const names = [...(this.hasAttribute("search") ? ["q"] : []), ...this.#faceted, "page"];
    const own = names.filter((name) => name in this.#own), id = this.id && `${this.id}-`;
    return new Map(own.map((name) => [`vl-${id}${name}`, name]));
  }

  #read(acted) {
    const address = new URLSearchParams(location.search);
    typing = undefined;
    for (const [key, name] of this.#linked) {
      const value = address.get(key) ?? this.#own[name];
      if (value === (this.getAttribute(name) ?? "")) continue;
      if (name === "q") this.#tools.querySelector("input")?.blur(); // it gets the new text
      this.#acted ||= acted;
      this.#set(name, value);
    }
  }

  // #write gives the page an address with what visitors changed.
  #write() {
    const linked = this.#linked;
    const others = location.search.slice(1).split("&")
      .filter((pair) => pair && !linked.has(new URLSearchParams(pair).keys().next().value));
    const changed = new URLSearchParams();
    for (const [key, name] of linked) {
      const value = this.getAttribute(name) ?? "";
      if (value !== this.#own[name]) changed.set(key, value);
    }
    const url = new URL(location);
    url.search = [...others, ...(changed.size ? [changed] : [])].join("&").replaceAll("%2C", ",");
    const step = this.#entry === "q" && typing === this ? "replaceState" : "pushState";
    if (url.href !== location.href) history[step](history.state, "", url);
    typing = this.#entry === "q" ? this : undefined;
  }

  // #plan updates once for all attributes that are changed together.
  #plan() {
    this.#planned ??= Promise.resolve().then(() => {
      this.#planned = undefined;
      if (this.#entry && this.hasAttribute("linkable")) this.#write();
      this.#entry = "";
      if (this.isConnected && this.hasAttribute("src")) this.#update("default");
    });
  }

  // #url returns the URL of the list in a format.
  #url(suffix, names, more = {}) {
    const url = this.#frame, given = url.searchParams;
    url.pathname = url.pathname.replace(/\.(?:html|json)$/, "") + suffix;
    for (const [name, value] of [...names.map((name) => [name, this.#value(name)]), ...Object.entries(more)]) {
      const own = narrowing.includes(name) ? `and.${name}` : name;
      if (value && name === "q") given.set(own, [...given.getAll(own), value].join(" "));
      else if (value && !(own !== name && given.has(own))) given.set(own, value);
    }
    return url.href;
  }

  #value(name) {
    return this.getAttribute(name)?.trim() || (flags.includes(name) && this.hasAttribute(name) ? "1" : "");
  }

  // #frame returns the URL in src. It may be that of a page that a reader had narrowed: then the narrower list is
  // the frame, and where two parameters say that, as in unit=A&and.unit=B, nothing is left to choose.
  get #frame() {
    const url = new URL(this.getAttribute("src"), document.baseURI), given = url.searchParams;
    for (const name of narrowing) {
      const own = `and.${name}`;
      if (!given.has(own) || given.has(name)) continue;
      for (const value of given.getAll(own)) given.append(name, value);
      given.delete(own);
    }
    return url;
  }

  // #fragment returns the URL of the list as HTML, or of another page of it.
  #fragment(page) {
    return this.#url(".html", [...filters, ...looks], {
      lang: this.#lang, style: this.getAttribute("citation-style"), title: this.hasAttribute("untitled") && "0",
      show: this.getAttribute("show")?.match(/[^\s,]+/g)?.join(), jsonld: "0", page,
    });
  }

  // #update asks for the list and, where they may differ, for its facets, and shows them.
  #update(cache) {
    this.#ask(() => { this.#dress(); return this.#fragment(); }, async (url, signal) => {
      const facets = this.#faceted.join();
      const counted = facets ? this.#url(".json", filters, { lang: this.#lang, facets, limit: 1 }) : "";
      const known = !counted || counted === this.#counts.url && cache !== "no-cache";
      const read = (text) => ({ url: counted, facets: JSON.parse(text).facets });
      const counts = known ? this.#counts : load(counted, signal, cache).then(read, () => this.#counts);
      const html = await load(url, signal, cache);
      const list = parse(html, url);
      const found = await counts;
      return () => {
        this.#counts = found;
        this.#dressFacets(facets ? found.facets ?? {} : {});
        if (html !== this.#shown) this.#show(list);
        this.#dress(); // its formats
        this.#shown = html;
        const parts = this.#acted ? [...list.querySelectorAll(".vl-count, .vl-here")] : [];
        this.#say(parts.map((e) => e.textContent).join(". "));
        this.#acted = false;
      };
    });
  }

  // #ask runs work that asks for a URL, in place of what was asked before. Work returns a function that shows the
  // answer.
  async #ask(address, work) {
    this.#request?.abort();
    const request = this.#request = new AbortController();
    const timer = setTimeout(() => request.abort(new Error("no answer in time")), patience);
    let url = this.getAttribute("src");
    this.#asked = Date.now();
    this.#main.setAttribute("aria-busy", "true");
    try {
      url = address();
      const show = await work(url, request.signal);
      if (this.#request !== request) return;
      show();
      this.#tell("vitrine-load", { url });
    } catch (error) {
      if (this.#request === request) this.#fail(error, url, () => this.#ask(address, work));
    } finally {
      clearTimeout(timer);
      if (this.#request === request) this.#main.removeAttribute("aria-busy");
    }
  }

  // #dress makes the search box and the exports, anew only where they differ: one may be in use.
  #dress() {
    const t = this.#texts;
    for (const part of [this.#tools, this.#chips, this.#status]) part.lang = this.#lang;
    const wanted = [t.search, this.hasAttribute("search"), this.hasAttribute("exports")];
    if (this.#tools.dataset.has !== String(wanted)) {
      const links = Object.keys(formats).map((name) => make("li", {}, make("a", { href: "" }, name)));
      const menu = [make("summary", {}, t.export), make("ul", {}, ...links)];
      this.#tools.dataset.has = wanted;
      this.#tools.replaceChildren(
        ...(wanted[1] ? [this.#makeSearch(t)] : []),
        ...(wanted[2] ? [make("details", { class: "vl-exports" }, ...menu)] : []),
      );
    }
    const box = this.#tools.querySelector("input:not(:focus)");
    if (box) box.value = this.getAttribute("q") ?? "";
    const without = this.#main.querySelector(".vl-list")?.dataset.without?.split(" ");
    for (const link of this.#tools.querySelectorAll("a")) {
      const format = formats[link.textContent];
      link.href = this.#url(format, filters);
      link.parentElement.hidden = without?.includes(format);
    }
  }

  #makeSearch(t) {
    let timer;
    const search = () => {
      clearTimeout(timer);
      if (box.value.trim() !== (this.getAttribute("q") ?? "")) this.#choose("q", box.value.trim());
    };
    const input = () => { clearTimeout(timer); timer = setTimeout(search, pause); };
    const keydown = (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault(); // the page may have a form around it
      search();
    };
    const box = make("input", {
      type: "search", class: "vl-q", autocomplete: "off", maxlength: 200, enterkeyhint: "search",
      input, change: search, keydown,
    });
    return make("div", { class: "vl-search", role: "search" }, make("label", {}, make("span", {}, t.search), box));
  }

  get #faceted() { return this.getAttribute("facets")?.match(/[^\s,]+/g) ?? []; }

  // #chosen returns the values of a parameter, as they are written: with a backslash before their own commas.
  #chosen(name) {
    const values = this.getAttribute(name)?.match(/(?:\\.|[^,\\])+/g) ?? [];
    return values.map((value) => value.trim()).filter(Boolean);
  }

  #choose(name, value) {
    this.#acted = true;
    this.#entry = name;
    this.#set(name, value);
  }

  #set(name, value) {
    if (value) this.setAttribute(name, value);
    else this.removeAttribute(name);
  }

  // #dressFacets makes the chips, of which one may have the focus.
  #dressFacets(facets) {
    const t = this.#texts;
    const focus = this.#chips.querySelector("button:focus");
    const opened = Array.from(this.#chips.querySelectorAll("details[open]"), (more) => more.dataset.name);
    const sets = [];
    for (const [name, values] of Object.entries(facets)) {
      const settled = this.#frame.searchParams.has(`and.${name}`);
      const chosen = this.#chosen(name);
      const chip = (text, attributes) =>
        make("li", {}, make("button", { type: "button", class: "vl-chip", ...attributes }, ...text));
      const chips = values.map(({ value, label, count, fixed }) => {
        const text = [label ?? value, " ", make("span", { class: "vl-n" }, count)];
        if (fixed || settled) return chip(text, { disabled: "", "aria-pressed": Boolean(fixed) });
        const year = name === "year"; // which replaces ranges
        const own = year ? String(value ?? "missing") : String(value).replace(/[\\,]|\.(?=\.)/g, "\\$&");
        const pressed = chosen.includes(own);
        const others = chosen.filter((other) => other !== own && !(year && /\.\.|^last/.test(other)));
        const click = () => this.#choose(name, (pressed ? others : [...others, own]).join());
        return chip(text, { name, value: own, "aria-pressed": pressed, click });
      });
      const rest = make("ul", {}, ...chips.splice(few));
      const more = make("details", { "data-name": name }, make("summary", {}, `${t.all} (${values.length})`), rest);
      more.open = opened.includes(name) || rest.querySelector("[aria-pressed=true]");
      const parts = [make("legend", {}, t[name] ?? name), make("ul", {}, ...chips)];
      if (rest.firstChild) parts.push(more);
      if (values.length) sets.push(make("fieldset", { class: "vl-facet" }, ...parts));
    }
    const active = Object.keys(facets).filter((name) => this.#chosen(name).length);
    const click = () => active.forEach((name) => this.#choose(name));
    if (active.length) sets.push(make("button", { type: "button", class: "vl-reset", click }, t.reset));
    this.#chips.replaceChildren(...sets);
    const buttons = [...this.#chips.querySelectorAll("button:enabled")];
    const same = ({ name, value }) => name === focus.name && value === focus.value;
    if (focus) (buttons.find(same) ?? buttons[0])?.focus({ preventScroll: true });
  }

  #show(list) {
    this.#finish(list);
    this.#main.replaceChildren(list);
    this.#offer(list);
    this.#longer = false;
    const goal = this.#goal && this.#group(this.#goal);
    this.#goal = "";
    if (!this.#turned) return;
    this.#turned = false;
    if (goal) return this.#go(goal);
    this.#main.focus({ preventScroll: true });
    this.#main.scrollIntoView();
  }

  // #group returns the heading of a group, by the end of its id, which is the same on all pages.
  #group(end) { return [...this.#main.querySelectorAll(".vl-group")].find(({ id }) => id.endsWith(end)); }

  #go(element) {
    element.tabIndex = -1;
    element.focus({ preventScroll: true });
    element.scrollIntoView();
  }

  // #offer offers figures of other services where the list has links to them; without the module these stay links.
  #offer(list) {
    if (!list.querySelector("[data-badge]")) return;
    import(new URL("badges.js", here)).then(({ dress }) => dress(list, this.#lang), () => {});
  }

  // #finish adds to a list what the server does not write: buttons, and ids that the page does not have yet.
  #finish(list) {
    const t = this.#texts;
    const button = (source, text, name) => make("button", {
      type: "button", class: "vl-copy", "aria-label": `${text}: ${name}`, click: () => this.#copy(source),
    }, text);
    for (const item of this.hasAttribute("copy") ? list.querySelectorAll(".vl-item") : []) {
      const citation = item.querySelector(".vl-citation") ?? item;
      const name = citation.textContent.trim().slice(0, 80);
      (item.querySelector(".vl-links") ?? item).append(button(citation, t.copy, name));
    }
    for (const source of list.querySelectorAll(".vl-fold > pre")) {
      source.after(button(source, t.text, source.previousSibling.textContent), " ");
    }
    this.#rename(list);
    const pager = this.hasAttribute("more") && list.querySelector(".vl-pager");
    if (!pager) return;
    const next = pager.querySelector(".vl-next")?.dataset.page;
    for (const part of pager.querySelectorAll(".vl-here, .vl-next, .vl-last")) part.remove();
    const further = make("button", { type: "button", click: () => this.#more(next) }, t.more);
    if (next) pager.before(make("p", { class: "vl-further" }, further));
    if (!pager.firstElementChild) pager.remove(); // else the ways back from a later page stay
  }

  // #more adds a page to the list. The first of its entries gets the focus.
  #more(page) {
    if (this.#main.hasAttribute("aria-busy")) return;
    this.#ask(() => this.#fragment(page), async (url, signal) => {
      const more = parse(await load(url, signal, "default"), url);
      return () => {
        this.#finish(more);
        this.#append(more);
      };
    });
  }

  // #append puts the entries of another page behind those of the list. A group that goes on has its heading.
  #append(more) {
    const list = this.#main.querySelector(".vl-list");
    const parts = [...more.children].filter((e) => e.matches(".vl-group, .vl-items"));
    const first = more.querySelector(".vl-item"), [last] = [...list.querySelectorAll(".vl-items")].slice(-1);
    while (parts[0]?.matches(".vl-continued")) parts.shift();
    if (parts[0]?.matches(".vl-items")) last.append(...parts.shift().children);
    last.after(...parts);
    // "120 entries, 26–50" becomes "120 entries, 1–50".
    const range = /, (\d[\d.,]*)(?:–(\d[\d.,]*))?(?= |$)/, count = list.querySelector(".vl-count");
    const [, from] = range.exec(count.textContent) ?? [];
    count.textContent = more.querySelector(".vl-count").textContent
      .replace(range, (_, begin, end) => `, ${from}–${end ?? begin}`);
    const further = more.querySelector(".vl-further");
    list.querySelector(".vl-further").replaceWith(...(further ? [further] : []));
    this.#longer = true;
    this.#offer(list);
    if (first) this.#go(first);
    this.#say(count.textContent);
  }

  // #rename gives the list ids of its own where the page has it once more. All of them begin with the list's.
  #rename(list) {
    const { id } = list;
    let own = id;
    const taken = () => [...document.querySelectorAll(`#${CSS.escape(own)}`)].some((e) => !this.contains(e));
    for (let n = 2; id && taken(); n++) own = `${id}_${n}`;
    for (const element of [list, ...list.querySelectorAll("[id]")]) {
      for (const at of element.attributes) {
        if (/^(?:id|aria-labelledby)$/.test(at.name)) at.value = at.value.replace(id, own);
      }
    }
    for (const link of list.querySelectorAll(".vl-jump a[href^='#']")) {
      link.setAttribute("href", link.hash.replace(id, own));
    }
  }

  // #say announces a text; with a button it is a failure, and in sight.
  #say(text, ...button) {
    this.#status.classList.toggle("vl-failed", button.length > 0);
    this.#status.replaceChildren(text, ...button);
  }

  #fail(error, url, again) {
    const t = this.#texts, { status = 0, message } = error;
    this.#acted = this.#turned = false;
    this.#goal = "";
    this.#say(`${t.failed} `, make("button", { type: "button", class: "vl-again", click: again }, t.again));
    if (status >= 400 && status < 500) console.error(`vitrine-list: ${url}: ${message}`);
    this.#tell("vitrine-error", { url, status, message });
  }

  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true })); }

  // #click turns the page in place, unless the server is away: then the link leads where it says. A link to a group
  // goes to it where it is shown, also in a shadow root, into which browsers follow no link.
  #click(event) {
    const link = event.target.closest(".vl-pager a[data-page], .vl-jump a");
    const elsewhere = event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (!link || elsewhere || event.defaultPrevented) return;
    const end = link.hash.slice(link.hash.lastIndexOf("_g__"));
    const group = link.closest(".vl-jump") && this.#group(end);
    if (!group && this.#status.matches(".vl-failed")) return;
    event.preventDefault();
    if (group) return this.#go(group);
    this.#turned = true;
    this.#goal = link.hash && end;
    this.#choose("page", link.dataset.page);
  }

  // #copy copies a citation with its markup, or the text of a format; where that is not allowed, it selects it.
  async #copy(citation) {
    const t = this.#texts;
    const form = (type, text) => ({ [type]: new Blob([text], { type }) });
    try {
      if (citation.matches("pre")) {
        await navigator.clipboard.writeText(citation.textContent);
        return this.#say(t.copied);
      }
      const whole = citation.cloneNode(true);
      for (const e of whole.querySelectorAll(".vl-gap, .vl-unfold")) e.remove(); // all names
      for (const e of whole.querySelectorAll("br")) e.after(" ");
      const plain = whole.textContent.replace(/\s+/g, " ").trim();
      const forms = { ...form("text/plain", plain), ...form("text/html", whole.outerHTML) };
      await navigator.clipboard.write([new ClipboardItem(forms)]);
      this.#say(t.copied);
    } catch {
      getSelection().selectAllChildren(citation);
      this.#say(document.execCommand("copy") ? t.copied : t.marked);
    }
  }
}

if (!customElements.get("vitrine-list")) customElements.define("vitrine-list", VitrineList);

// Pages of this server say in an iframe how high they are: <iframe data-vitrine> follows.
addEventListener("message", ({ data, origin, source }) => {
  if (origin !== here.origin || !(data?.vitrine > 0)) return;
  for (const frame of document.querySelectorAll("iframe[data-vitrine]")) {
    if (frame.contentWindow === source) frame.height = data.vitrine;
  }
});
