// One table of keys: what binds them also fills the list behind "?". Never inside a text field.
//
//   bind("j", "next step", "Steps", (event) => …)      a key, or two after one another: "g t"
//   unbind(…) is what bind() returns

const table = new Map();
let pending = "";
let timer = 0;
const CHORD_MS = 900;

export function bind(keys, label, group, handler) {
  if (table.has(keys)) throw new Error(`key ${keys} is bound twice: ${table.get(keys).label} and ${label}`);
  table.set(keys, { keys, label, group, handler });
  return () => table.delete(keys);
}

// Links and buttons may carry their key: <a data-key="j" data-key-group="Steps" data-key-label="next step" href=…>.
// Called again after a fragment came in; the element is looked up when the key is pressed.
export function bindElements(root = document) {
  for (const element of root.querySelectorAll("[data-key]")) {
    const key = element.dataset.key;
    if (table.has(key)) continue;
    const label = element.dataset.keyLabel || element.textContent.trim().replace(/\s+/g, " ");
    bind(key, label, element.dataset.keyGroup || "This page", () => {
      const now = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
      if (now) now.click();
    });
  }
}

export function bindings() {
  return [...table.values()];
}

export function inTextField(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("textarea, select, [contenteditable=true], .cm-editor")) return true;
  const input = target.closest("input");
  return Boolean(input) && !["checkbox", "radio", "button", "submit", "range"].includes(input.type);
}

function startsChord(key) {
  return [...table.keys()].some((keys) => keys.startsWith(`${key} `));
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (inTextField(event.target) || document.querySelector("dialog[open]")) return;
  const keys = pending ? `${pending} ${event.key}` : event.key;
  clearTimeout(timer);
  pending = "";
  const found = table.get(keys);
  if (found) {
    event.preventDefault();
    found.handler(event);
  } else if (startsChord(event.key)) {
    pending = event.key;
    timer = setTimeout(() => { pending = ""; }, CHORD_MS);
  }
});

export function fillList(into) {
  const groups = new Map();
  for (const binding of bindings()) {
    if (!groups.has(binding.group)) groups.set(binding.group, []);
    groups.get(binding.group).push(binding);
  }
  into.replaceChildren();
  for (const [name, rows] of groups) {
    const head = document.createElement("h3");
    head.textContent = name;
    const list = document.createElement("dl");
    for (const row of rows) {
      const term = document.createElement("dt");
      for (const key of row.keys.split(" ")) {
        const cap = document.createElement("kbd");
        cap.textContent = key;
        term.append(cap, " ");
      }
      const says = document.createElement("dd");
      says.textContent = row.label;
      list.append(term, says);
    }
    into.append(head, list);
  }
}
