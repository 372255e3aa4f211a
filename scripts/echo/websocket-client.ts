/**
 * Sends messages over a WebSocket and prints the received ones, for users with a curl without WebSocket support.
 *
 *   scripts/node scripts/echo/websocket-client.ts --host echo.example.com ws://127.0.0.1:8080/socket one two
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";

const { values, positionals } = parseArgs({
  options: { host: { type: "string" }, ca: { type: "string" } },
  allowPositionals: true,
});
const [url = "ws://127.0.0.1:8080/", ...given] = positionals;
const messages = given.length > 0 ? given : ["hello"];
const { host, ca } = values;
const socket = new WebSocket(url, {
  ...(host === undefined ? {} : { headers: { Host: host }, servername: host }),
  ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
});
socket.once("open", () => {
  for (const message of messages) socket.send(message);
});
// The first message names the backend; after that, each sent message is returned.
let left = messages.length + 1;
socket.on("message", (data: Buffer) => {
  console.log(data.toString("utf8"));
  left--;
  if (left === 0) socket.close();
});
socket.once("error", (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
