// The slider of epsilon, and forms that are sent once. Pages work without it.
"use strict";

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-once]")) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});

// The places of the slider: two digits, from 0.01 to 10.
const last = 270;
const epsilonAt = (place) => place >= last ? 10 : Number(((10 + place % 90) / 10 ** (3 - Math.floor(place / 90))).toFixed(3));
const placeOf = (epsilon) => {
  let place = 0;
  while (place < last && epsilonAt(place) < epsilon) place += 1;
  return place;
};
const field = document.getElementById("epsilon"), slider = document.getElementById("epsilon-place");
const show = (place) => { slider.value = place; slider.setAttribute("aria-valuetext", field.value); };
const set = (text) => { field.value = text; field.dispatchEvent(new Event("input", { bubbles: true })); };
if (slider) {
  slider.hidden = false;
  show(placeOf(Number(field.value)));
  field.addEventListener("input", () => { if (document.activeElement !== slider) show(placeOf(Number(field.value))); });
  slider.addEventListener("input", () => { set(String(epsilonAt(Number(slider.value)))); show(slider.value); });
}

// What was typed before htmx listened is planned now; it would take it for what the page came with.
document.addEventListener("DOMContentLoaded", () => {
  const form = document.getElementById("question");
  const isTyped = (each) => each.name && (each.type === "checkbox" ? each.checked !== each.defaultChecked
    : each.type === "select-one" ? !(each.selectedOptions[0] || {}).defaultSelected && each.selectedIndex > 0
    : each.value !== each.defaultValue);
  if (form && [...form.elements].some(isTyped)) field.dispatchEvent(new Event("typed"));
});

// What htmx could not load: the server has ended, or was started anew and does not know this browser.
const said = {
  lost: "The server does not answer. If it has ended, start it again. What was charged is in the ledger.",
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
