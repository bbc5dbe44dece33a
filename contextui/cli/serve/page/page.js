// What the page adds to Textual's terminal: the keyboard belongs to it from the start, and when
// the connection ends the page says why.
"use strict";
const OPEN_ELSEWHERE = 4001; // the close code with which the server refuses a page that is open

window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("open", focusTerminal);
    this.addEventListener("close", ({ code }) => showEnd(code));
  }
};

function focusTerminal() {
  document.querySelector(".xterm-helper-textarea").focus();
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
