// The mask is opened where the first trained token stands; the prompt before it is a scroll away.

function reveal() {
  const mask = document.querySelector(".mask");
  const first = mask && mask.querySelector("mark");
  if (!first || mask.dataset.shown) return;
  mask.dataset.shown = "1";
  mask.scrollTop = Math.max(0, first.offsetTop - mask.clientHeight / 3);
}

reveal();
document.addEventListener("htmx:afterSettle", reveal);
