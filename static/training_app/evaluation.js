// An evaluation's page: bars with intervals, fetched anew as episodes end (at most twice a second).

import { follow } from "../studio/live.js";
import { draw, token, update } from "./charts.js";

const FETCH_EVERY_MS = 500;
const chart = JSON.parse(document.getElementById("chart").textContent);
const place = document.getElementById("bars");
let waiting = null;

function show() {
  const rows = JSON.parse(document.getElementById("rows").textContent).filter((row) => row.rate !== null);
  if (!rows.length || !window.Plotly) return;
  const tiers = [...new Set(rows.map((row) => row.tier))];
  const traces = tiers.map((tier, index) => {
    const mine = rows.filter((row) => row.tier === tier);
    return {
      type: "bar", name: tier, x: mine.map((row) => row.label), y: mine.map((row) => row.rate),
      marker: { color: token(`--series-${index + 1}`) },
      error_y: {
        type: "data", symmetric: false, color: token("--ink"), thickness: 1.2,
        array: mine.map((row) => row.high - row.rate), arrayminus: mine.map((row) => row.rate - row.low),
      },
      customdata: mine.map((row) => `${row.passed} of ${row.n}`), hovertemplate: "%{y:.1%} (%{customdata})",
    };
  });
  const extra = { barmode: "group", margin: { l: 44, r: 12, t: 8, b: 90 } };
  const drawn = place.dataset.drawn ? update(place, traces, extra) : draw(place, traces, extra);
  place.dataset.drawn = "1";
  return drawn;
}

function soon() {
  if (waiting) return;
  waiting = setTimeout(async () => {
    waiting = null;
    await window.htmx.ajax("GET", chart.url, { target: "#result", swap: "outerHTML" });
    show();
  }, FETCH_EVERY_MS);
}

show();
document.addEventListener("studio:theme", show);
follow(chart.stream, chart.after, (event) => {
  if (event.kind === "ended") { location.reload(); return; }
  soon();
}, { ended: (event) => event.kind === "ended" });
