import { spawn } from "node:child_process";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const descriptors = 300;
/** The sessions that a process with one worker and so many descriptors may have. */
const udpSessions = 61;
const program = fileURLToPath(new URL("./few-descriptors-program.ts", import.meta.url));

type Counts = { readonly sessions: number; readonly refused: number; readonly failed: number };

describe("a proxy with few descriptors", () => {
  it("a proxy serves connections while more UDP clients arrive than it has descriptors", async () => {
    const sockets: UdpSocket[] = [];
    const udp = createSocket("udp4");
    const tcp = createServer((socket) => socket.end("hello"));
    udp.bind(0, "127.0.0.1");
    tcp.listen(0, "127.0.0.1");
    await Promise.all([once(udp, "listening"), once(tcp, "listening")]);
    const ports = `${(tcp.address() as AddressInfo).port},${udp.address().port}`;
    const limited = `ulimit -n ${descriptors} && exec "$0" "$@"`;
    const child = spawn("sh", ["-c", limited, process.execPath, program], {
      env: { ...process.env, PORTS: ports },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const read = async <Line>(): Promise<Line> => JSON.parse((await lines.next()).value as string) as Line;
    const counts = (): Promise<Counts> => {
      child.stdin.write("\n");
      return read<Counts>();
    };
    try {
      const own = await read<{ readonly tcp: number; readonly udp: number }>();
      const flood = (): void => {
        for (const socket of sockets) socket.send("x", own.udp, "127.0.0.1");
      };
      sockets.push(...Array.from({ length: 2 * descriptors }, () => createSocket("udp4")));
      for (;;) {
        flood();
        const { sessions, refused, failed } = await counts();
        expect(failed).to.equal(0);
        expect(sessions).to.be.at.most(udpSessions);
        if (sessions === udpSessions && refused > 0) break;
      }
      for (let i = 0; i < 20; i++) {
        flood();
        const client = connect(own.tcp, "127.0.0.1");
        const [answer] = (await once(client, "data")) as [Buffer];
        expect(answer.toString()).to.equal("hello");
        client.destroy();
      }
    } finally {
      child.stdin.end();
      for (const socket of [...sockets, udp]) socket.close();
      tcp.close();
      child.kill();
    }
  });
});
