// Lists of episodes: rows are selected with shift, the bar says how many, one filter's choices are open at a time.
const form = document.getElementById("bulk");
const boxes = () => [...document.querySelectorAll("#bulk input[name=id]")];
let last = null;

function count() {
  const chosen = boxes().filter((box) => box.checked).length;
  const says = document.getElementById("selected-says");
  const button = document.getElementById("bulk-selected");
  if (!says || !button) return;
  says.hidden = button.hidden = chosen === 0;
  says.textContent = `${chosen} selected`;
}

form?.addEventListener("click", (event) => {
  const box = event.target.closest("input[name=id]");
  if (!box) return;
  if (event.shiftKey && last) {
    const all = boxes();
    const [from, to] = [all.indexOf(last), all.indexOf(box)].sort((a, b) => a - b);
    for (const one of all.slice(from, to + 1)) one.checked = box.checked;
  }
  last = box;
  count();
});
count();

document.addEventListener("toggle", (event) => {
  if (!event.target.matches?.("details.filter") || !event.target.open) return;
  for (const other of document.querySelectorAll("details.filter[open]")) if (other !== event.target) other.open = false;
}, true);
document.addEventListener("click", (event) => {
  if (event.target.closest("details.filter")) return;
  for (const one of document.querySelectorAll("details.filter[open]")) one.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const one = event.target.closest?.("details.filter[open]");
  if (one) { one.open = false; one.querySelector("summary").focus(); }
});
