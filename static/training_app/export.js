// An export's page: its parts appear as they are written.

import { follow } from "../studio/live.js";

const chart = JSON.parse(document.getElementById("chart").textContent);
if (chart.live) {
  follow(chart.stream, chart.after, () => {
    window.htmx.ajax("GET", chart.url, { target: "#parts", swap: "outerHTML" });
  }, { ended: (event) => event.kind === "ended" });
}
