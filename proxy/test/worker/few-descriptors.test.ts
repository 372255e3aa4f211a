import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { eventually } from "./support.ts";

const program = fileURLToPath(new URL("./few-descriptors-program.ts", import.meta.url));

type Started = {
  readonly port: number;
  readonly warnings: readonly { readonly connections?: number; readonly descriptors?: number }[];
};

/** A client that has sent a request. Its connection stays open until the test or the proxy ends it. */
class Asking {
  /** The status of the response, or `closed` if the connection ended without one; undefined until then. */
  outcome: string | undefined = undefined;
  readonly socket: Socket;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    let text = "";
    this.socket.on("data", (data: Buffer) => {
      text += data.toString("latin1");
      if (text.includes("\r\n")) this.outcome ??= text.split(" ")[1];
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => (this.outcome ??= "closed"));
    this.socket.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  }
}

describe("a proxy with few descriptors", () => {
  for (const [descriptors, workers, connections] of [
    [64, 1, 4],
    [128, 2, 32],
  ] as const) {
    it(`a proxy with ${descriptors} descriptors and ${workers} workers connects each of ${connections} clients to a backend, closes the others, and says so`, async () => {
      const held: ServerResponse[] = [];
      const backend = createServer((_, response) => held.push(response));
      backend.listen(0, "127.0.0.1");
      await once(backend, "listening");
      const limited = `ulimit -n ${descriptors} && exec "$0" "$@"`;
      const child = spawn("sh", ["-c", limited, process.execPath, program], {
        env: {
          ...process.env,
          WORKERS: String(workers),
          BACKEND: String((backend.address() as AddressInfo).port),
        },
        stdio: ["pipe", "pipe", "inherit"],
      });
      const clients: Asking[] = [];
      try {
        const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
        const { port, warnings } = JSON.parse(line) as Started;
        expect(warnings).to.have.length(1);
        expect(warnings[0]).to.include({ connections, descriptors });
        const ask = (): Asking => {
          const client = new Asking(port);
          clients.push(client);
          return client;
        };
        const outcomes = (outcome: string): number =>
          clients.filter((client) => client.outcome === outcome).length;
        for (let i = 0; i < 2 * descriptors; i++) ask();
        // Two workers at the same moment may both be refused the last place.
        await eventually(() => outcomes("closed") + held.length === clients.length);
        while (held.length < connections) {
          ask();
          await eventually(() => outcomes("closed") + held.length === clients.length);
        }
        expect(held.length).to.equal(connections);
        for (const response of held.splice(0)) response.end("hello");
        await eventually(() => outcomes("200") === connections);
        expect(outcomes("200") + outcomes("closed")).to.equal(clients.length);
        // Places are free again when clients leave.
        for (const { socket } of clients) socket.destroy();
        backend.removeAllListeners("request").on("request", (_, response: ServerResponse) => response.end());
        await eventually(async () => {
          const client = ask();
          await eventually(() => client.outcome !== undefined);
          client.socket.destroy();
          return client.outcome === "200";
        });
      } finally {
        for (const { socket } of clients) socket.destroy();
        const ended = once(child, "exit");
        child.stdin.end();
        await ended;
        backend.closeAllConnections();
        backend.close();
      }
    });
  }
});
