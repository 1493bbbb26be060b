// <vitrine-list>: shows a list of a Vitrine around the fragment that is already there.
customElements.define("vitrine-list", class extends HTMLElement {});
