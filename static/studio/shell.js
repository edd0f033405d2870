// What every page has: the keys, the theme, the menu on small screens, the search box, confirmations.
import { bind, bindElements, fillList } from "./keys.js";

const byId = (id) => document.getElementById(id);

const search = byId("search");
const found = byId("found");
if (search) {
  bind("/", "search", "Everywhere", () => { search.focus(); search.select(); });
  const close = () => found.replaceChildren();
  search.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    if (event.key === "Escape") { close(); search.blur(); }
    if (event.key === "ArrowDown" && links.length) { event.preventDefault(); links[0].focus(); }
  });
  found.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") { event.preventDefault(); links[Math.min(at + 1, links.length - 1)].focus(); }
    if (event.key === "ArrowUp") { event.preventDefault(); (at > 0 ? links[at - 1] : search).focus(); }
    if (event.key === "Escape") { close(); search.focus(); }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) close(); });
}

const dialog = byId("keys");
const showKeys = () => { fillList(byId("keys-list")); dialog.showModal(); };
bind("?", "this list", "Everywhere", showKeys);
byId("keys-open").addEventListener("click", showKeys);

for (const link of document.querySelectorAll("[data-jump]")) {
  bind(`g ${link.dataset.jump}`, link.firstChild.textContent.trim(), "Go to", () => { location.href = link.href; });
}

bindElements();
document.addEventListener("htmx:afterSettle", () => bindElements());

const theme = byId("theme");
const root = document.documentElement;
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const nameTheme = () => {
  theme.textContent = dark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Change to ${dark() ? "light" : "dark"} theme`);
};
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  localStorage.setItem("studio-theme", root.dataset.theme);
  nameTheme();
  document.dispatchEvent(new CustomEvent("studio:theme"));
});
nameTheme();

const menu = byId("menu");
menu.addEventListener("click", () => {
  const open = document.body.classList.toggle("rail-open");
  menu.setAttribute("aria-expanded", String(open));
});

// A form that must not be sent twice: its button is off once it was pressed; the server refuses doubles anyway.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-once]")) return;
  const buttons = form.querySelectorAll("button[type=submit], button:not([type])");
  setTimeout(() => buttons.forEach((button) => { button.disabled = true; }), 0);
});
addEventListener("pageshow", (event) => {
  if (event.persisted) document.querySelectorAll("form[data-once] button").forEach((b) => { b.disabled = false; });
});
