// A run's page: charts from what the page brought, then from the run's stream; its head and lists are fetched anew
// when something other than a point has happened.

import { follow } from "../studio/live.js";
import { draw, lines, update } from "./charts.js";

const NAMES = {
  loss: "train", validation_loss: "validation", accuracy: "right", learning_rate: "learning rate", grad_norm: "gradient norm",
  rollout_reward: "reward", groups_with_signal: "with signal", groups_without: "without", length_sampled: "tokens said",
  infrastructure: "infrastructure",
};
const DRAW_EVERY_MS = 250;

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const chart = read("chart");
let points = read("points");
let waiting = null;
const places = [...document.querySelectorAll(".chart[data-series]")];

function series(place) {
  return place.dataset.series.split(" ").map((name) => {
    const held = points.filter((point) => point[name] !== undefined && point[name] !== null);
    return { name: NAMES[name] || name, x: held.map((point) => point.step), y: held.map((point) => point[name]) };
  }).filter((one) => one.x.length);
}

function show() {
  waiting = null;
  for (const place of places) {
    const drawn = series(place);
    if (!drawn.length || !window.Plotly) continue;
    if (place.dataset.drawn) { update(place, lines(drawn)); continue; }
    place.dataset.drawn = "1";
    draw(place, lines(drawn));
    place.on("plotly_click", (click) => {
      if (chart.kind !== "rl") return;
      const step = click.points[0].x;
      history.replaceState(null, "", `${chart.url}?step=${step}`);
      window.htmx.ajax("GET", `${chart.url}?step=${step}`, { target: "#rollouts", swap: "outerHTML" });
    });
  }
}

function soon() { if (!waiting) waiting = setTimeout(show, DRAW_EVERY_MS); }

function refresh(id) {
  if (document.getElementById(id)) window.htmx.ajax("GET", chart.url, { target: `#${id}`, swap: "outerHTML" });
}

function left(point) {
  if (!point.seconds || !point.step) return "";
  const seconds = Math.round((point.seconds / point.step) * (point.steps - point.step));
  return seconds > 90 ? ` · about ${Math.round(seconds / 60)} min left` : ` · about ${seconds} s left`;
}

function moved(point) {
  const bar = document.getElementById("run-progress");
  if (bar && point.steps) bar.value = point.step / point.steps;
  const word = document.getElementById("run-progress-word");
  if (word) word.textContent = `step ${point.step} of ${point.steps}${left(point)}`;
  const infra = document.getElementById("infra");
  if (infra && point.infrastructure !== undefined) infra.textContent = point.infrastructure;
}

function take(event) {
  if (event.kind === "step" || event.kind === "validation") {
    points.push(event.data);
    soon();
    if (event.kind === "step") moved(event.data);
    const chosen = new URLSearchParams(location.search).get("step");
    if (chart.kind === "rl" && !chosen) refresh("rollouts");
  } else if (event.kind === "resumed") {
    points = points.filter((point) => point.step <= event.data.step);
    soon();
  } else if (event.kind === "checkpoint") {
    refresh("checkpoints");
    refresh("run-head");
  } else {
    refresh("run-head");
  }
}

// What was drawn before a resume and then done again is not drawn twice.
points = points.reduce((kept, point) => {
  if (point.kind === "resumed") return kept.filter((one) => one.step <= point.step);
  return point.kind === "checkpoint" ? kept : [...kept, point];
}, []);
show();
document.addEventListener("studio:theme", show);
follow(chart.stream, read("after"), take, { ended: () => false });
