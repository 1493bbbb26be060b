"use strict";
// The page can be read without this. It adds: finding, where one is, and trying.

for (const hidden of document.querySelectorAll(".find, .credentials, form.try")) hidden.hidden = false;

// Finding: endpoints whose path or text has every word.
const contents = document.getElementById("contents");
const links = [...contents.querySelectorAll("li a")];
document.getElementById("find").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const link of links) {
    const text = document.getElementById(link.hash.slice(1)).textContent.toLowerCase();
    const fits = words.every((word) => text.includes(word));
    link.parentElement.hidden = !fits;
    if (fits) found++;
  }
  for (const heading of contents.querySelectorAll("h2")) {
    heading.hidden = !heading.nextElementSibling.querySelector("li:not([hidden])");
  }
  document.getElementById("unfound").textContent = found ? "" : "Nothing has that.";
});

// On a small screen the contents begin closed, and close behind a choice.
const narrow = matchMedia("(max-width: 55rem)");
const fold = () => { contents.open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();
contents.addEventListener("click", (event) => { if (event.target.closest("li a")) fold(); });

// Where one is.
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links) {
      if (link.hash === "#" + entry.target.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}, { rootMargin: "0px 0px -75% 0px" });
for (const target of document.querySelectorAll("article, #about, #keys")) seen.observe(target);

// Trying: the call that a form spells.
function callOf(form) {
  let path = form.closest("article").dataset.path;
  const query = [];
  for (const input of form.elements) {
    if (!input.name) continue;
    if (input.type === "checkbox") {
      if (input.checked) query.push(input.name + "=1");
    } else if (input.dataset.in === "path") {
      path = path.replace("{" + input.name + "}", input.value ? encodeURIComponent(input.value) : "{" + input.name + "}");
    } else if (input.value && input.name === "filter") {
      query.push(input.value.replace(/^\?/, ""));
    } else if (input.value && input.name.endsWith("[]")) {
      for (const part of input.value.split(",")) query.push(input.name + "=" + encodeURIComponent(part.trim()));
    } else if (input.value) {
      query.push(input.name + "=" + encodeURIComponent(input.value));
    }
  }
  return document.documentElement.dataset.root + path + (query.length ? "?" + query.join("&") : "");
}

const shown = 100_000; // characters of an answer

async function attempt(form) {
  const call = callOf(form);
  const outcome = form.querySelector(".outcome");
  const status = outcome.querySelector(".status");
  const code = outcome.querySelector("code");
  const headers = {};
  const key = document.getElementById("key").value;
  const token = document.getElementById("token").value;
  if (key) headers["X-API-Key"] = key;
  if (token) headers["Authorization"] = "Bearer " + token;
  outcome.hidden = false;
  status.className = "status";
  status.textContent = "Asking …";
  code.textContent = "";
  try {
    const began = performance.now();
    const answer = await fetch(call, { headers });
    const text = await answer.text();
    const took = Math.round(performance.now() - began);
    status.textContent = [answer.status, took + " ms", text.length.toLocaleString("en") + " characters", answer.headers.get("Cache-Status")].filter(Boolean).join(" · ");
    status.classList.toggle("bad", !answer.ok);
    colour(code, pretty(text));
  } catch (error) {
    status.textContent = "No answer: " + error.message;
    status.classList.add("bad");
  }
}

function pretty(text) {
  let out = text;
  try { out = JSON.stringify(JSON.parse(text), null, 2); } catch { /* no JSON: as it is */ }
  return out.length > shown ? out.slice(0, shown) + "\n…" : out || "(empty)";
}

// colour tells keys, texts and other values apart. What is answered is only ever text here.
function colour(code, text) {
  const parts = document.createDocumentFragment();
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*|true|false|null)/g;
  let end = 0;
  for (const match of text.matchAll(token)) {
    parts.append(text.slice(end, match.index));
    const span = document.createElement("span");
    span.className = match[3] ? "v" : match[2] ? "k" : "s";
    span.textContent = match[1] || match[3];
    parts.append(span, match[2] || "");
    end = match.index + match[0].length;
  }
  parts.append(text.slice(end));
  code.replaceChildren(parts);
}

for (const form of document.querySelectorAll("form.try")) {
  const url = form.querySelector(".url");
  const spell = () => { url.textContent = callOf(form); };
  form.addEventListener("input", spell);
  form.addEventListener("submit", (event) => { event.preventDefault(); attempt(form); });
  spell();
}
