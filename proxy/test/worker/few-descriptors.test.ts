import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const descriptors = 200;
const program = fileURLToPath(new URL("./few-descriptors-program.ts", import.meta.url));

/** The status of a request, or why there is none. Its connection stays open until the caller or the proxy ends it. */
async function ask(port: number, sockets: Socket[] = []): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  let text = "";
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on("data", (data: Buffer) => {
    text += data.toString("latin1");
    if (text.includes("\r\n")) resolve(text.split(" ")[1] ?? "");
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve("closed"));
  socket.write("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  return promise;
}

describe("a worker without free descriptors", () => {
  it("a worker that has run out of descriptors answers or closes every connection, and serves again when clients leave", async () => {
    const limited = `ulimit -n ${descriptors} && exec "$0" "$@"`;
    const child = spawn("sh", ["-c", limited, process.execPath, program], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const sockets: Socket[] = [];
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const port = Number(line);
      expect(await ask(port, sockets)).to.equal("200");
      const answers = await Promise.all(Array.from({ length: 2 * descriptors }, () => ask(port, sockets)));
      const counts = (answer: string): number => answers.filter((one) => one === answer).length;
      expect(counts("200") + counts("502") + counts("closed")).to.equal(answers.length);
      // No descriptor was left for connections to backends, and none for some clients.
      expect(counts("502")).to.be.greaterThan(0);
      expect(counts("closed")).to.be.greaterThan(0);
      for (const socket of sockets) socket.destroy();
      while ((await ask(port, sockets)) !== "200") sockets.at(-1)?.destroy();
      for (let i = 0; i < 20; i++) expect(await ask(port, sockets)).to.equal("200");
    } finally {
      for (const socket of sockets) socket.destroy();
      const ended = once(child, "exit");
      child.stdin.end();
      await ended;
    }
  });
});
