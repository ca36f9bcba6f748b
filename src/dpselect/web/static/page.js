// Copy buttons, and forms that are sent once. Pages work without it.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copy).textContent;
  navigator.clipboard.writeText(text).then(
    () => { button.textContent = "Copied"; },
    () => { button.textContent = "Select it, and copy with the keyboard"; },
  );
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-once]")) return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});

// A page that was kept for the back button may be out of date: what it asks for may have been answered.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) window.location.reload();
});

// A plan that comes late leaves alone what somebody is typing into.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.detail.target === document.activeElement) event.detail.shouldSwap = false;
});
