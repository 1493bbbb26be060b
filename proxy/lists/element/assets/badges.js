// Figures of other services for records with a DOI. Nothing is requested of a service before the visitor agrees;
// until then, and where it does not answer, there are plain links to its pages. Only one number of each answer
// is read: no script, style, picture or markup of a service gets into the page.

const here = new URL(import.meta.url);
const services = {
  altmetric: {
    name: "Altmetric", server: "https://api.altmetric.com", path: "/v1/doi/", figure: (answer) => answer.score,
  },
  dimensions: {
    name: "Dimensions", server: "https://metrics-api.dimensions.ai", path: "/doi/",
    figure: (answer) => answer.times_cited,
  },
};
const texts = {
  en: {
    offer: (names, hosts) => `Figures of ${names} are not loaded. They come from ${hosts}, ` +
      "which then get your IP address and the DOIs of what you see.",
    loaded: (names, hosts) => `Figures of ${names} are loaded from ${hosts}.`,
    load: "Load figures", stop: "Stop loading them", and: " and ",
  },
  de: {
    offer: (names, hosts) => `Zahlen von ${names} werden nicht geladen. Sie kommen von ${hosts}; ` +
      "dorthin gehen dann Ihre IP-Adresse und die DOIs der angezeigten Einträge.",
    loaded: (names, hosts) => `Zahlen von ${names} werden von ${hosts} geladen.`,
    load: "Zahlen laden", stop: "Nicht mehr laden", and: " und ",
  },
};
const timeoutMs = 10_000; // milliseconds for an answer
const maxBytes = 64 << 10; // bytes of an answer; the services send a few thousand
const maxConcurrent = 4; // requests

// What the visitor agreed to holds for this page's site and the server of the list, until it is withdrawn.
const key = `vitrine-badges ${here.origin}`;
let agreed = new Set(remembered());

function remembered() {
  try {
    return (localStorage.getItem(key) ?? "").split(",").filter((name) => Object.hasOwn(services, name));
  } catch { return []; }
}

function agree(names, yes) {
  for (const name of names) agreed[yes ? "add" : "delete"](name);
  try {
    if (agreed.size) localStorage.setItem(key, [...agreed].join());
    else localStorage.removeItem(key);
  } catch { /* It holds for this page. */ }
  changed();
}

const listeners = new Set(); // a function for each decorated list, which shows what holds now

function changed() { for (const update of listeners) update(); }

addEventListener("storage", (event) => {
  if (event.key !== key && event.key !== null) return;
  agreed = new Set(remembered());
  changed();
});

const cache = new Map(); // URL to the promise of its figure
const waiting = []; // functions that begin a request
let running = 0;

// next begins the requests that wait for their turn.
function next() {
  while (running < maxConcurrent && waiting.length) {
    running++;
    waiting.shift()().finally(() => { running--; next(); });
  }
}

// ask returns the figure of a service for a DOI, or undefined.
function ask(name, doi) {
  const service = services[name];
  const url = service.server + service.path + doi.split("/").map(encodeURIComponent).join("/");
  if (!cache.has(url)) {
    cache.set(url, new Promise((resolve) => waiting.push(async () => {
      if (!agreed.has(name)) { // withdrawn meanwhile
        cache.delete(url);
        return resolve();
      }
      try { resolve(figure(service, await read(url))); } catch { resolve(); }
    })));
    next();
  }
  return cache.get(url);
}

async function read(url) {
  const response = await fetch(url, {
    credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(response.status);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part; !(part = await reader.read()).done;) {
    text += part.value;
    if (text.length <= maxBytes) continue;
    await reader.cancel();
    throw new Error("too long");
  }
  return JSON.parse(text);
}

// figure returns a number of an answer, whatever the answer is.
function figure(service, answer) {
  const number = service.figure(Object(answer));
  return typeof number === "number" && number >= 0 && number < 1e9 ? Math.round(number) : undefined;
}

const decorated = new WeakSet(); // links

// dress adds to a list what the visitor decides by, and figures to its links once the visitor agrees. Figures are
// asked for as their entries come into view. A list that has grown is decorated again: its new links follow what
// the visitor decided.
export function dress(list, lang) {
  const t = texts[/^de\b/i.test(lang) ? "de" : "en"];
  const links = [...list.querySelectorAll("a[data-badge][data-doi]")]
    .filter((link) => Object.hasOwn(services, link.dataset.badge) && !decorated.has(link));
  for (const link of links) decorated.add(link);
  const names = Object.keys(services).filter((name) => links.some((link) => link.dataset.badge === name));
  if (!names.length) return;
  const all = (text) => names.map(text).join(t.and);
  const said = document.createElement("span");
  const button = Object.assign(document.createElement("button"), { type: "button", className: "vl-again" });
  const control = Object.assign(document.createElement("p"), { className: "vl-consent", lang });
  control.append(said, " ", button);
  const heading = list.querySelector(":scope > :is(h1, h2, h3, h4, h5, h6, header)");
  if (!list.querySelector(":scope > .vl-consent")) { // else that one decides for the new links, too
    if (heading) heading.after(control);
    else list.prepend(control);
  }
  const yes = () => names.every((name) => agreed.has(name));
  button.addEventListener("click", () => agree(names, !yes()));
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const { badge, doi } = target.dataset;
      if (!isIntersecting || !agreed.has(badge)) continue;
      seen.unobserve(target);
      ask(badge, doi).then((number) => {
        target.dataset.answered = number !== undefined;
        if (number === undefined || !agreed.has(badge)) return;
        target.textContent = `${services[badge].name}: ${number.toLocaleString(lang)}`;
      });
    }
  }, { rootMargin: "200px" });
  const update = () => {
    if (!list.isConnected) { // another answer took its place
      seen.disconnect();
      listeners.delete(update);
      return;
    }
    const text = t[yes() ? "loaded" : "offer"];
    said.textContent = text(all((name) => services[name].name), all((name) => new URL(services[name].server).host));
    button.textContent = t[yes() ? "stop" : "load"];
    for (const link of links) {
      seen.unobserve(link);
      link.textContent = services[link.dataset.badge].name;
      if (agreed.has(link.dataset.badge)) seen.observe(link);
    }
  };
  listeners.add(update);
  update();
}
