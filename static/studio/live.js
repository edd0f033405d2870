// Follows a stream of events: what lies after `after` comes first, then what happens. Reconnects by itself.
//
//   const stop = follow("episode:…", 0, (event) => …, { ended: (event) => event.kind === "ended" })
//
// event: {seq, kind, data, at}. `after` is the last number the page already shows, so nothing comes twice or is lost.
// The mark in the top bar says what it knows: live, how old the last word is, or that it reconnects.

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5000;
const NOT_SIGNED_IN = 4401;
const BAD_ADDRESS = 4400;

let lastAt = 0;
let state = "";

function say(next) {
  state = next;
  const mark = document.getElementById("live");
  if (!mark) return;
  mark.hidden = !next;
  mark.dataset.state = next;
  const age = lastAt ? Math.round((Date.now() - lastAt) / 1000) : 0;
  const words = {
    live: age > 5 ? `live · last news ${age < 90 ? `${age} s` : `${Math.round(age / 60)} min`} ago` : "live",
    waiting: "reconnecting…",
    ended: "ended",
    closed: "signed out: reload to go on",
  };
  document.getElementById("live-word").textContent = words[next] || "";
}
setInterval(() => { if (state === "live") say("live"); }, 1000);

export function follow(stream, after, onEvent, { ended = () => false } = {}) {
  let seq = after;
  let socket = null;
  let wait = FIRST_WAIT_MS;
  let stopped = false;

  const open = () => {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/ws/events/?stream=${encodeURIComponent(stream)}&after=${seq}`);
    socket.addEventListener("open", () => { wait = FIRST_WAIT_MS; lastAt = Date.now(); say("live"); });
    socket.addEventListener("message", (message) => {
      const event = JSON.parse(message.data);
      if (event.seq <= seq) return;
      seq = event.seq;
      lastAt = Date.now();
      say("live");
      onEvent(event);
      if (ended(event)) stop("ended");
    });
    socket.addEventListener("close", (closing) => {
      if (stopped) return;
      if (closing.code === NOT_SIGNED_IN || closing.code === BAD_ADDRESS) { stopped = true; say("closed"); return; }
      say("waiting");
      setTimeout(() => { if (!stopped) open(); }, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
  };

  function stop(word = "") {
    stopped = true;
    if (socket) socket.close();
    say(word);
  }

  open();
  return stop;
}
