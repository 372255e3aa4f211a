import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { KernelDrops } from "../../src/linux/kernel-drops.ts";

const header =
  "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops";

/** A line in the format of Linux; port 5300 is 14B4. */
const socket = (inode: number, drops: number, port = "14B4", peer = "0000"): string =>
  ` 1234: 00000000000000000000000000000000:${port} 00000000000000000000000000000000:${peer} 07 00000000:00000000 00:00000000 00000000 65532        0 ${inode} 2 0000000000000000 ${drops}       `;

describe("KernelDrops", () => {
  it("kernel drops are counted per port since the last read, over all listening sockets", async () => {
    const files: Record<string, string> = {
      "/proc/net/udp": [header, socket(1, 5), socket(2, 7, "14B5")].join("\n"),
      "/proc/net/udp6": [header, socket(3, 1), socket(4, 9, "14B4", "0035"), ""].join("\n"),
    };
    const drops = new KernelDrops((path) => Promise.resolve(files[path]));
    expect([...(await drops.since(new Set([5300])))]).to.deep.equal([[5300, 6]]);
    files["/proc/net/udp6"] = [header, socket(3, 4)].join("\n");
    expect([...(await drops.since(new Set([5300])))]).to.deep.equal([[5300, 3]]);
    expect([...(await drops.since(new Set([5300])))]).to.deep.equal([]);
  });

  it("kernel drops of a socket that is not read are counted on Linux", async function () {
    if (!existsSync("/proc/net/udp")) return this.skip();
    // The thread of the socket blocks once the socket is bound.
    const busy = new Worker(
      `const socket = require("node:dgram").createSocket("udp4");
       socket.bind(0, "127.0.0.1", () => {
         require("node:worker_threads").parentPort.postMessage(socket.address().port);
         setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
       });`,
      { eval: true },
    );
    const client = createSocket("udp4");
    const drops = new KernelDrops();
    try {
      const [port] = (await once(busy, "message")) as [number];
      const message = Buffer.alloc(8_192);
      let dropped = 0;
      while (dropped === 0) {
        await new Promise((resolve) => client.send(message, port, "127.0.0.1", resolve));
        dropped = (await drops.since(new Set([port]))).get(port) ?? 0;
      }
    } finally {
      client.close();
      await busy.terminate();
    }
  });

  it("kernel drops of a replaced socket are counted from zero", async () => {
    let table = [header, socket(1, 5)].join("\n");
    const drops = new KernelDrops((path) => Promise.resolve(path.endsWith("6") ? undefined : table));
    await drops.since(new Set([5300]));
    table = [header, socket(2, 2)].join("\n");
    expect([...(await drops.since(new Set([5300])))]).to.deep.equal([[5300, 2]]);
  });

  it("kernel drops are unknown without the table in /proc, or with one of another format", async () => {
    const none = new KernelDrops(() => Promise.resolve(undefined));
    expect((await none.since(new Set([5300]))).size).to.equal(0);
    const other = new KernelDrops(() => Promise.resolve("nothing 1 2 3\n\n\u0000"));
    expect((await other.since(new Set([5300]))).size).to.equal(0);
  });

  it("the table in /proc is not read when no UDP port is open", async () => {
    const drops = new KernelDrops(() => Promise.reject(new Error("was read")));
    expect((await drops.since(new Set())).size).to.equal(0);
  });
});
