import { WebSocket } from "ws";
import { around, pause, type Stage, wordsOf } from "../stage.ts";

/** Close codes of a backend that restarts (RFC 6455 7.4.1) and of a client that ends normally. */
const orderly = new Set([1000, 1001]);
const messagesPerConnection = 60;

/** Uses one connection until either side ends it. Resolves with a description of any error. */
function talk({ host, port, tally, signal }: Stage): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://${host}:${port}/`, { headers: { host: "ws.example.com" } });
    let left = messagesPerConnection;
    const send = (): void => socket.send(`message ${left}`);
    socket.on("open", send);
    socket.on("message", (data) => {
      tally.done("websocket");
      if (String(data as Buffer) !== `message ${left}`) return socket.close(4000, "another message");
      left--;
      void pause(around(1000), signal).then((goesOn) => {
        if (socket.readyState !== WebSocket.OPEN) return;
        if (goesOn && left > 0) send();
        else socket.close(1000);
      });
    });
    socket.on("error", (error) => resolve(wordsOf(error)));
    socket.on("close", (code) => resolve(orderly.has(code) ? "" : `closed with ${code}`));
  });
}

/** Uses one connection after another, until the end. */
export async function runWebSocket(stage: Stage): Promise<void> {
  while (await pause(around(500), stage.signal)) {
    const fault = await talk(stage);
    if (fault !== "") stage.tally.failed("websocket", fault);
  }
}
