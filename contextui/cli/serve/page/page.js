// What the page adds to Textual's terminal: the keyboard belongs to it from the start, the
// browser's paste, title and notifications work, and when the connection ends the page says why.
"use strict";
const OPEN_ELSEWHERE = 4001; // the close code with which the server refuses a page that is open
const V = 86; // the code of the key v on every layout

let connection;
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    connection = this;
    this.addEventListener("open", focusTerminal);
    this.addEventListener("message", ({ data }) => obey(data));
    this.addEventListener("close", ({ code }) => showEnd(code));
  }
};

function focusTerminal() {
  document.querySelector(".xterm-helper-textarea").focus();
}

function obey(data) {
  const [name, text] = typeof data === "string" ? JSON.parse(data) : [];
  if (name === "title") document.title = text;
  if (name === "background") document.body.style.background = text;
  if (name === "notify") notify(text);
}

// A browser asks for permission only after a key or a click: the person is back then.
function notify(text) {
  const [title, body] = text.split(";");
  if (Notification.permission === "granted") new Notification(title, { body });
  else if (Notification.permission === "default")
    document.addEventListener("keydown", () => Notification.requestPermission(), { once: true });
}

// The terminal would send ctrl+v to the app, which cannot read the browser's clipboard. Browsers
// and the terminal go by the code of the key: on a Cyrillic layout its name is another.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey && !event.altKey && event.keyCode === V) event.stopPropagation();
}, { capture: true });

// Not typed, as the terminal would: escape sequences in the text could end the paste and press keys.
document.addEventListener("paste", (event) => {
  event.preventDefault();
  event.stopPropagation();
  connection?.send(JSON.stringify(["paste", event.clipboardData.getData("text/plain")]));
}, { capture: true });

// For the terminal, which copies for the app: a page of another machine has no clipboard without
// encryption, but may copy a selection.
if (!navigator.clipboard) Object.defineProperty(navigator, "clipboard", { value: { writeText } });

async function writeText(text) {
  const field = document.querySelector(".xterm-helper-textarea");
  field.value = text;
  field.select();
  document.execCommand("copy");
  field.value = "";
}

function showEnd(code) {
  const reason = code === OPEN_ELSEWHERE ? "elsewhere" : "ended";
  document.getElementById(reason).hidden = false;
  document.getElementById("over").hidden = false;
  document.getElementById("again").focus();
}

document.addEventListener("DOMContentLoaded", () => {
  const socket = new URL("socket", location.href);
  socket.protocol = "ws:";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = socket.href;
  document.getElementById("again").addEventListener("click", () => location.reload());
  document.getElementById("new").addEventListener("click", () => location.assign("../new"));
});
