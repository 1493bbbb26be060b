// What pages of lists do with a script, and can do without.

// In an iframe: our own navigation is out of place, links to other sites leave it, and the page
// around hears how high this one is.
if (parent !== window) {
  for (const own of document.querySelectorAll(".vl-top, .vl-skip")) own.hidden = true;
  for (const link of document.querySelectorAll("a[href]")) {
    if (link.origin !== location.origin) link.target = "_top";
  }
  new ResizeObserver(() => {
    const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    parent.postMessage({ vitrine: height, height }, "*");
  }).observe(document.documentElement);
}

// Copy buttons; where the clipboard is out of reach, the text is selected. Screen readers hear the outcome.
const status = Object.assign(document.createElement("p"), { className: "vl-unseen", role: "status" });
document.getElementById("vl_main").append(status);
for (const button of document.querySelectorAll("button[data-copy]")) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    let copied = true;
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      copied = document.execCommand("copy");
    }
    if (!copied) return;
    button.textContent = status.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; status.textContent = ""; }, 2000);
  });
}

// Figures of other services, once the visitor agrees.
if (document.querySelector("[data-badge]")) {
  const { dress } = await import("./badges.js");
  dress(document.querySelector(".vl-list, .vl-item"), document.documentElement.lang);
}
