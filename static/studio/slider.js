// Sliders of a size: they run over many orders of magnitude, so they are logarithmic; the number field is what is sent.
const FULL = 1000;

for (const range of document.querySelectorAll("input[type=range][data-for]")) {
  const field = document.getElementById(range.dataset.for);
  const least = Math.max(1, Number(range.dataset.least));
  const most = Number(range.dataset.most);
  const toRange = (value) => Math.round((FULL * Math.log(Math.max(value, least) / least)) / Math.log(most / least));
  const toValue = (at) => Math.round(least * (most / least) ** (at / FULL));
  const say = () => range.setAttribute("aria-valuetext", `${Number(field.value).toLocaleString("en")} ${range.dataset.for}`);
  range.value = toRange(Number(field.value));
  say();
  range.addEventListener("input", () => { field.value = toValue(Number(range.value)); say(); });
  field.addEventListener("input", () => { range.value = toRange(Number(field.value)); say(); });
}
