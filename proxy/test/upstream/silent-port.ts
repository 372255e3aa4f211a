import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/**
 * Opens a port on which connects hang. A thread listens with the smallest queue and then sleeps without accepting. The
 * queue is filled, so that the kernel drops later connects.
 */
export async function silentPort(): Promise<{ port: number; close(): Promise<void> }> {
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads");
     const server = require("node:net").createServer();
     server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  const [port] = (await once(worker, "message")) as [number];
  const fillers: Socket[] = [];
  for (let i = 0; i < 8; i++) {
    const filler = connect(port, "127.0.0.1");
    filler.on("error", () => undefined);
    fillers.push(filler);
  }
  return {
    port,
    async close() {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
