// Plotly in the studio's colours. `draw` makes a chart once; `update` changes its data in place.
//
// Series take their colour and their dash in one fixed order, so that a line keeps its look on every page.

const DASHES = ["solid", "dot", "dash", "dashdot"];

export function token(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

export function layout(extra = {}) {
  const mute = token("--mute");
  const line = token("--line");
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, tickfont: { size: 11, color: mute }, automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 44, r: 12, t: 8, b: 30 },
    hovermode: "x unified", showlegend: true, legend: { orientation: "h", y: 1.14, font: { size: 11, color: mute } },
    hoverlabel: { bgcolor: token("--panel"), bordercolor: line, font: { color: token("--ink"), size: 11 } },
    xaxis: { ...axis }, yaxis: { ...axis, rangemode: "tozero" }, ...extra,
  };
}

export const CONFIG = { displaylogo: false, responsive: true, displayModeBar: "hover", modeBarButtonsToRemove: ["lasso2d", "select2d"] };

export function lines(series) {
  return series.map((one, index) => ({
    x: one.x, y: one.y, name: one.name, type: "scatter", mode: one.x.length > 60 ? "lines" : "lines+markers",
    line: { color: token(`--series-${(index % 4) + 1}`), width: 2, dash: DASHES[Math.floor(index / 4) % 4] }, marker: { size: 5 },
  }));
}

export function draw(place, traces, extra) {
  place.replaceChildren();
  return window.Plotly.newPlot(place, traces, layout(extra), CONFIG);
}

export function update(place, traces, extra) {
  return window.Plotly.react(place, traces, layout(extra), CONFIG);
}
