import { once } from "node:events";
import { type AddressInfo, connect, createServer, type OnReadOpts, type Server, type Socket } from "node:net";
import { expect } from "chai";
import type { Transport } from "../../src/sockets/transport.ts";
import { eventually } from "../http/h1/harness.ts";
import { socketLayer } from "../socket-layers.ts";

/** More than the buffers of a loopback connection hold. */
export const muchBytes = 20_000_000;

/** Records the events of a transport. */
export class Record {
  readonly pieces: Buffer[] = [];
  readonly events: string[] = [];
  code: string | undefined = undefined;
  onPiece: () => void = () => {};

  get text(): string {
    return Buffer.concat(this.pieces).toString("latin1");
  }
  receive({ bytes }: { readonly bytes: Uint8Array }): void {
    this.pieces.push(Buffer.from(bytes));
    this.onPiece();
  }
  ended(): void {
    this.events.push("ended");
  }
  taken(): void {
    this.events.push("taken");
  }
  failed(code: string | undefined): void {
    this.code = code;
  }
  closed(): void {
    this.events.push("closed");
  }
}

export type Accepted = { readonly client: Socket; readonly socket: Socket };

type Taken = Accepted & { readonly transport: Transport; readonly record: Record };

/** Connections of a server for each test of the block that calls this. */
export function transportBench(): {
  /** `onread`: how the client reads. */
  accept(onread?: OnReadOpts): Promise<Accepted>;
  take(): Promise<Taken>;
} {
  let server: Server;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(async () => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await closed;
  });

  /** A client, and the accepted socket that nothing has taken yet. */
  async function accept(onread?: OnReadOpts): Promise<Accepted> {
    const { port } = server.address() as AddressInfo;
    const client = connect({ host: "127.0.0.1", port, allowHalfOpen: true, ...(onread && { onread }) });
    const [socket] = (await once(server, "connection")) as [Socket];
    sockets.push(client, socket);
    client.on("error", () => {});
    if (client.connecting) await once(client, "connect");
    return { client, socket };
  }

  async function take(): Promise<Taken> {
    const accepted = await accept();
    const transport = socketLayer().take(accepted.socket);
    const record = new Record();
    transport.start(record);
    return { ...accepted, transport, record };
  }
  return { accept, take };
}

/** Everything that is read from a socket from now on. */
export function collect(socket: Socket): () => string {
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("latin1"))).resume();
  return () => text;
}

/** Lets everything happen that is due. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The end of a transport leaves behind much that waits for a client that reads late, and what that sends meanwhile is read. */
export async function endsBehindAll(taken: {
  readonly client: Socket;
  readonly transport: Transport;
  readonly record: Record;
}): Promise<void> {
  const { client, transport, record } = taken;
  client.pause();
  transport.writeBytes("", Buffer.alloc(muchBytes, "x"), "");
  transport.end();
  await turns();
  expect(transport.finished).to.equal(false);
  client.write("still here");
  await eventually(() => record.text === "still here");
  let length = 0;
  let hasEnded = false;
  client
    .on("data", (bytes: Buffer) => (length += bytes.length))
    .on("end", () => (hasEnded = true))
    .resume();
  await eventually(() => hasEnded && transport.finished);
  expect(length).to.equal(muchBytes);
  client.end();
  await eventually(() => record.events.includes("closed"));
}
