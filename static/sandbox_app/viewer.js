// The episode viewer: panes by link or key, swapped without a reload; the same page follows a live episode's socket.
//
// The server renders everything, also the step that runs now. This module swaps #viewer for what an address gives, and
// between two swaps adds what the socket tells: printed text and calls. `rendered` is the last event that the page
// already shows, so nothing is added twice; events that came while a swap was under way are added after it.
import { bind } from "../studio/keys.js";
import { follow } from "../studio/live.js";

const SOON_MS = 120;
const viewer = () => document.getElementById("viewer");
const part = (id) => document.getElementById(id);

let request = 0;

async function fetchViewer(address) {
  const answer = await fetch(address, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  const box = document.createElement("template");
  box.innerHTML = await answer.text();
  const fresh = box.content.querySelector("#viewer");
  if (!fresh) throw new Error("no viewer in the answer");
  return fresh;
}

async function open(address, { push = true } = {}) {
  const mine = ++request;
  reader = false;
  let fresh;
  try {
    fresh = await fetchViewer(address);
  } catch {
    location.href = address;            // let the browser show what went wrong
    return;
  }
  if (mine !== request) return;         // the reader went on meanwhile
  if (push) history.pushState({}, "", address);
  swap(fresh);
}

function swap(fresh) {
  const steps = part("steps")?.scrollTop ?? 0;
  const focus = document.activeElement?.closest?.("#viewer [data-do]")?.dataset.do;
  const typed = keepTyped();
  viewer().replaceWith(fresh);
  rendered = Number(fresh.dataset.after);
  part("steps").scrollTop = steps;
  part("steps").querySelector(".on")?.scrollIntoView({ block: "nearest" });
  if (focus) fresh.querySelector(`[data-do="${focus}"]`)?.focus({ preventScroll: true });
  putTyped(typed);
  for (const event of waiting.filter((event) => event.seq > rendered)) show(event);
  waiting = waiting.filter((event) => event.seq > rendered);
}

function keepTyped() {
  const form = part("decision");
  const reason = form?.querySelector("[name=reason]:checked")?.value;
  return form && { reason, note: form.note.value, open: part("reasons").open };
}

function putTyped(typed) {
  const form = part("decision");
  if (!form || !typed) return;
  if (typed.reason) form.querySelector(`[name=reason][value="${CSS.escape(typed.reason)}"]`).checked = true;
  form.note.value = typed.note;
  part("reasons").open = typed.open;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("#viewer a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  if (link.pathname !== location.pathname || link.hasAttribute("data-page")) return;
  event.preventDefault();
  open(link.href);
});
addEventListener("popstate", () => open(location.href, { push: false }));

// ---- keys: each presses the control that is marked with it, so that all of it is also done by mouse

const press = (key) => () => viewer().querySelector(`[data-do="${key}"]`)?.click();
const STEPS = {
  j: "next step", k: "previous step", e: "next error", d: "next difference", o: "fold or unfold long outputs",
  l: "follow live",
};
const PANELS = { v: "variables", t: "tables", "g f": "files", y: "verdict (why)", x: "console" };
for (const [key, label] of Object.entries(STEPS)) bind(key, label, "Steps", press(key));
for (const [key, label] of Object.entries(PANELS)) bind(key, label, "Panels", press(key));
bind("n", "next item of the list", "Review", press("n"));
bind("p", "previous item of the list", "Review", press("p"));
bind("a", "approve the verdict", "Review", press("a"));
bind("s", "skip", "Review", press("s"));
bind("u", "undo my last judgement", "Review", press("u"));
bind("r", "reject: choose a reason, then again", "Review", () => {
  const form = part("decision");
  if (!form) return;
  const reason = form.querySelector("[name=reason]:checked");
  if (reason && reason.closest("label").dataset.for !== "approve") { form.querySelector("[value=reject]").click(); return; }
  part("reasons").open = true;
  form.querySelector("label[data-for=reject] input").focus();
});
for (let digit = 1; digit <= 9; digit += 1) {
  bind(String(digit), `reason ${digit}`, "Review", () => {
    const radio = viewer().querySelector(`[name=reason][data-do="${digit}"]`);
    if (!radio) return;
    part("reasons").open = true;
    radio.checked = true;
    radio.focus();
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("#decision [value=reject]");
  if (!button || part("decision").querySelector("[name=reason]:checked")) return;
  event.preventDefault();
  part("reasons").open = true;
  part("decision").querySelector("label[data-for=reject] input").focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.closest?.("#reasons")) {
    part("reasons").open = false;
    part("reasons").querySelector("summary").focus();
  }
});

// ---- live

let rendered = Number(viewer().dataset.after);
let waiting = [];                       // of the running step, not yet rendered by the server
let reader = false;                     // the reader scrolled back: nothing moves under their eyes
let timer = 0;
let busy = false;

const following = () => viewer().hasAttribute("data-following");

function show(event) {
  const output = part("live-output");
  if (event.kind === "output" && output && Number(output.dataset.index) === event.data.index) {
    const low = output.scrollTop + output.clientHeight >= output.scrollHeight - 24;
    output.append(document.createTextNode(visible(event.data.text)));
    if (low && !reader) output.scrollTop = output.scrollHeight;
  }
  if (event.kind === "calls" && part("live-calls")) {
    for (const call of event.data.calls) part("live-calls").append(callLine(call));
    part("live-count").textContent = part("live-calls").children.length;
  }
  const count = part("running-calls");
  if (event.kind === "calls" && count) count.textContent = Number(count.textContent) + event.data.calls.length;
}

// As the server's `shown` filter does: what can't be seen, or turns the reading direction, is named.
function visible(text) {
  const picture = (c) => (c === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + c.charCodeAt(0)));
  const number = (c) => `⟦U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`;
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, picture)
    .replace(/[\u0080-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g, number);
}

function callLine(call) {
  const line = document.createElement("div");
  line.className = call.ok ? "call" : "call erred";
  const parts = [["sign", call.ok ? "✓" : "✕"], ["what", call.tool], ["", ""], ["faint n", `${call.milliseconds} ms`]];
  for (const [name, text] of parts) {
    const cell = document.createElement("span");
    cell.className = name;
    cell.textContent = visible(text);
    line.append(cell);
  }
  return line;
}

async function refresh() {
  if (busy) { soon(); return; }
  busy = true;
  const at = location.href;
  const mine = request;
  try {
    const fresh = await fetchViewer(at);
    if (mine !== request || at !== location.href) return;
    if (reader && following()) {        // they look back at something: only the frame moves
      for (const id of ["viewer-head", "track", "steps"]) part(id).replaceWith(fresh.querySelector(`#${id}`));
      viewer().toggleAttribute("data-stale", true);
    } else if (following() && fresh.dataset.endUrl) {
      await open(fresh.dataset.endUrl, { push: false });          // it ended while they watched: the answer, and the verdict
      history.replaceState({}, "", fresh.dataset.endUrl);
    } else {
      swap(fresh);
    }
  } finally {
    busy = false;
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(() => refresh().catch(() => soon()), SOON_MS);
}

function onEvent(event) {
  if (event.seq <= rendered) return;
  if (event.kind === "output" || event.kind === "calls") {
    waiting.push(event);
    show(event);
  } else {
    soon();
  }
}

if (viewer().hasAttribute("data-live")) {
  follow(viewer().dataset.stream, rendered, onEvent, { ended: (event) => event.kind === "ended" });
}
document.addEventListener("wheel", (event) => {
  if (!following() || event.deltaY >= 0 || !event.target.closest?.("#body")) return;
  reader = true;
  if (part("follow")) part("follow").hidden = false;
}, { passive: true });
document.addEventListener("scroll", (event) => {
  if (!reader || event.target.id !== "body") return;
  const box = event.target;
  if (box.scrollTop + box.clientHeight >= box.scrollHeight - 8) {
    reader = false;
    if (part("follow")) part("follow").hidden = true;
    if (viewer().hasAttribute("data-stale")) soon();
  }
}, { passive: true, capture: true });
