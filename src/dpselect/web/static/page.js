// Copy buttons, and forms that are sent once. Pages work without it.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  const failed = () => { button.textContent = "Select it, and copy with the keyboard"; };
  if (!navigator.clipboard) failed(); // browsers have none for pages of other machines
  else navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }, failed);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-once]")) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});

// What htmx could not load: the server has ended, or was started anew and does not know this browser.
const said = {
  lost: "The server does not answer. If it has ended, start dpselect serve again. What was charged is in the ledger.",
  refused: "The server refused that. If it was started anew, open the address that it printed.",
};
const tell = (text) => {
  const lost = document.getElementById("lost");
  lost.textContent = text;
  lost.hidden = text === "";
};
document.addEventListener("htmx:sendError", () => tell(said.lost));
document.addEventListener("htmx:responseError", () => tell(said.refused));
document.addEventListener("htmx:afterOnLoad", () => tell(""));

// While a plan takes long, what is wrong with the one before is no longer said.
let planning = null, slowly = 0;
const busy = (is) => {
  const form = document.getElementById("question");
  if (!form) return;
  form.classList.toggle("planning", is);
  document.getElementById("busy").hidden = !is;
  document.getElementById("plan").setAttribute("aria-busy", String(is));
};
document.addEventListener("htmx:beforeSend", (event) => {
  if (event.detail.target.id !== "plan") return;
  planning = event.detail.xhr;
  clearTimeout(slowly);
  slowly = setTimeout(busy, 150, true);
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.xhr !== planning) return; // a later one replaced it
  clearTimeout(slowly);
  busy(false);
});

// A page that was kept for the back button may be out of date: what it asks for may have been answered.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});

// A plan that comes late leaves alone what somebody is typing into.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.detail.target === document.activeElement) event.detail.shouldSwap = false;
});
