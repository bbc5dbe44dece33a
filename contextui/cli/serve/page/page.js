// A page that is loaded anew goes on with the session that it showed.
"use strict";
const ANEW = "begin anew";

document.addEventListener("DOMContentLoaded", () => {
  const [{ type }] = performance.getEntriesByType("navigation");
  const goesOn = type === "reload" && !sessionStorage.getItem(ANEW);
  sessionStorage.removeItem(ANEW);
  const socket = new URL(goesOn ? "socket/continue" : "socket", location.href);
  socket.protocol = "ws:";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = socket.href;

  document.getElementById("go-on").addEventListener("click", () => location.reload());
  document.getElementById("anew").addEventListener("click", () => {
    sessionStorage.setItem(ANEW, "yes");
    location.reload();
  });
});
