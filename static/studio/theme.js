// Runs before the first paint: the theme kept in this browser, else the system's.
(() => {
  const kept = localStorage.getItem("studio-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
