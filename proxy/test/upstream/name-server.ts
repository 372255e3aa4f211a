import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export type DnsRecord = {
  readonly name: string;
  readonly type: "A" | "AAAA" | "CNAME";
  /** Seconds. */
  readonly ttl: number;
  /** An address, or the target name of a CNAME. */
  readonly data: string;
};

/** The records of a reply and its code (RFC 1035 4.1.1); undefined for no reply at all. */
export type DnsReply = { readonly code?: number; readonly records?: readonly DnsRecord[] } | undefined;

export const serverFailure: DnsReply = { code: 2 };
export const noSuchName: DnsReply = { code: 3 };

export type NameServer = {
  /** The address of the server, for `setServers`. */
  readonly address: string;
  /** The questions in order of arrival, such as `A a.test`; one that is repeated for lack of an answer counts once. */
  readonly asked: string[];
  /** Returns the reply to a question; replaced by the test. */
  answer: (name: string, type: "A" | "AAAA") => DnsReply;
  close(): void;
};

const typeNumbers = { A: 1, CNAME: 5, AAAA: 28 } as const;

/** Starts a name server on loopback, over UDP, whose replies the test sets. */
export async function startNameServer(): Promise<NameServer> {
  const socket: Socket = createSocket("udp4");
  const server = {
    address: "",
    asked: [] as string[],
    answer: (_name: string, _type: "A" | "AAAA"): DnsReply => noSuchName,
    close: () => void socket.close(),
  };
  const seen = new Set<string>();
  socket.on("message", (query, from) => {
    const { name, type, end } = readQuestion(query);
    const question = `${type} ${name}`;
    const identity = `${query.readUInt16BE(0)} ${question}`;
    if (!seen.has(identity)) server.asked.push(question);
    seen.add(identity);
    const reply = server.answer(name, type);
    if (reply === undefined) return;
    const { code = 0, records = [] } = reply;
    const head = Buffer.from(query.subarray(0, 12));
    // A response with recursion, one question, and no additional records.
    head.writeUInt16BE(0x8180 | code, 2);
    for (const [at, count] of [1, records.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at);
    socket.send(
      Buffer.concat([head, query.subarray(12, end), ...records.map(renderRecord)]),
      from.port,
      from.address,
    );
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`;
  return server;
}

function readQuestion(query: Buffer): {
  readonly name: string;
  readonly type: "A" | "AAAA";
  readonly end: number;
} {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1) === typeNumbers.AAAA ? "AAAA" : "A";
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 };
}

function renderRecord({ name, type, ttl, data }: DnsRecord): Buffer {
  const content =
    type === "CNAME"
      ? renderName(data)
      : type === "A"
        ? Buffer.from(data.split(".").map(Number))
        : Buffer.from(data.replaceAll(":", ""), "hex");
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(typeNumbers[type], 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt16BE(content.length, 8);
  return Buffer.concat([renderName(name), fields, content]);
}

const renderName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, "latin1")),
    Buffer.alloc(1),
  ]);
