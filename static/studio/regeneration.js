// The job's progress as it comes; when it ends, the page is asked for again and shows the proof.
import { follow } from "./live.js";

const part = document.getElementById("regeneration");
const bar = document.getElementById("progress");
const doing = document.getElementById("doing");

follow(part.dataset.stream, Number(part.dataset.after), (event) => {
  if (event.kind === "progress") {
    bar.value = event.data.share;
    doing.textContent = event.data.doing;
  }
  if (event.kind === "ended") location.reload();
}, { ended: (event) => event.kind === "ended" });
