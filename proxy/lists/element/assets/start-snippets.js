// The snippets of the builder, of which the chosen one is shown.

import { base, builder, form } from "./start-fields.js";
import { attributes, edit, heading, isUntitled, place, query, way } from "./start-state.js";

const escape = (text) => text.replace(/[&<>"'\\{]/g, (c) => `&#${c.charCodeAt()};`);

// hash returns a short text that differs for different lists: FNV-1a, as in proxy/lists/page.
function hash(text) {
  let key = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) key = Math.imul(key ^ byte, 0x01000193);
  return (key >>> 0).toString(36);
}

// address returns the address of the chosen list from a base on, with a suffix and more parameters.
export function address(from, suffix, ...more) {
  const { href, field } = place();
  // The element leaves out these suffixes.
  const path = href.slice(builder.dataset.base.length).replace(/\.(html|json)$/, "%2E$1");
  const asked = [String(query(field)), ...more].filter(Boolean).join("&");
  return from + path + suffix + (asked && `?${asked}`);
}

// attributesToHTML returns attributes as HTML.
const attributesToHTML = (all) =>
  [...all].map(([name, value]) => (value ? ` ${name}="${escape(value)}"` : ` ${name}`)).join("");

// write writes the chosen list into the snippets, and shows the one that is wanted.
export function write() {
  const level = `h${form.elements.h?.value || 2}`, wanted = heading();
  const headed = wanted && `<${level}>${escape(wanted)}</${level}>`;
  const { hostname: host, host: authority, port, pathname } = new URL(base);
  const bare = isUntitled() && "title=0", html = address("", ".html", bare);
  const texts = {
    page: address(base, ""), frame: address(base, "", "embed=1", bare), html: base + html,
    bib: address(base, ".bib"), path: html.replaceAll("$", "%24"), key: hash(html), title: wanted || place().title,
    base, host, authority, port: port || "80", root: pathname.replace(/\/$/, ""),
  };
  const ready = { attributes: attributesToHTML(attributes()), edit: edit() }; // for any language
  for (const snippet of builder.querySelectorAll("[data-form]")) {
    const { dataset, firstChild } = snippet;
    const form = dataset.form.replace(/^(.*)\{heading\}\n/gm, (_, before) => headed && `${before}${headed}\n`);
    const fill = (whole, name) => ready[name] ?? ("markup" in dataset && name in texts ? escape(texts[name])
      : texts[name] ?? whole);
    firstChild.data = form.replace(/\{([a-z]+)\}/g, fill);
    const part = snippet.closest(".vl-way");
    part.removeAttribute("name"); // the menu opens one; without the name the browser does not close the others
    part.open = part.id === `vl_way-${way()}`;
    part.hidden = !part.open;
  }
}
