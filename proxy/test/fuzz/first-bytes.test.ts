import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import fc from "fast-check";
import { parseProxyHeader } from "../../src/listeners/proxy-protocol/header.ts";
import { peekClientHello } from "../../src/tls/client-hello.ts";
import { eventually, startGateway, startTcp, type Gateway } from "../integration/gateway.ts";
import { issueCertificate } from "../tls/certificates.ts";

/** The same bytes in each run; SEED=<integer> makes others. */
const seed = Number(process.env["SEED"] ?? 8446);
const runs = Number(process.env["RUNS"] ?? 300);

/** A change of the bytes at one position: some are replaced, inserted, removed, or cut off at the end. */
type Mutation = { readonly at: number; readonly bytes: Buffer; readonly instead: number };

const mutations = fc.array(
  fc.record<Mutation>({
    at: fc.nat({ max: 600 }),
    bytes: fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
    instead: fc.constantFrom(0, 1, 1, 2, 4, 1000),
  }),
  { maxLength: 4 },
);

const mutate = (bytes: Buffer, changes: readonly Mutation[]): Buffer =>
  changes.reduce(
    (all, { at, bytes: put, instead }) =>
      Buffer.concat([all.subarray(0, at), put, all.subarray(Math.min(all.length, at + instead))]),
    bytes,
  );

/** Unlike `once`, also where an error comes first. */
const closeOf = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once("close", () => resolve()));

/** The ClientHellos that Node sends with these options, as bytes. */
async function recordHellos(): Promise<readonly Buffer[]> {
  const hellos: Buffer[] = [];
  const server = await startTcp((socket) =>
    socket.once("data", (chunk: Buffer) => {
      hellos.push(chunk);
      socket.destroy();
    }),
  );
  for (const options of [
    { servername: "a.example" },
    { servername: "a.example", ALPNProtocols: ["h2", "http/1.1"], maxVersion: "TLSv1.2" as const },
    { servername: `${"x".repeat(60)}.example`, ALPNProtocols: ["x".repeat(255)] },
    {},
  ]) {
    const socket = connectTls({
      host: "127.0.0.1",
      port: server.port,
      rejectUnauthorized: false,
      ...options,
    });
    socket.on("error", () => {});
    await closeOf(socket);
  }
  await server.close();
  return hellos;
}

/** A hello in TLS records of so many bytes. */
const inRecords = (hello: Buffer, size: number): Buffer => {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const piece = message.subarray(at, at + size);
    records.push(
      Buffer.concat([hello.subarray(0, 3), Buffer.of(piece.length >> 8, piece.length & 255), piece]),
    );
  }
  return Buffer.concat(records);
};

describeCodecs("generated first bytes of connections", function () {
  this.timeout(120_000);

  const version1 = Buffer.from("PROXY TCP4 192.0.2.1 192.0.2.2 1234 443\r\n");
  const version2 = Buffer.from("0d0a0d0a000d0a515549540a2111000cc0000201c000020204d201bb", "hex");
  const headers = fc
    .tuple(fc.constantFrom(version1, version2, Buffer.from("PROXY UNKNOWN x\r\n")), mutations)
    .map(([bytes, changes]) => mutate(bytes, changes));

  it("a PROXY header is the same however it is cut, and nothing behind it matters", () => {
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 8 }), (bytes, rest) => {
        const whole = parseProxyHeader(bytes);
        for (let end = 0; end < bytes.length; end++) {
          const part = parseProxyHeader(bytes.subarray(0, end));
          if (part.kind !== "incomplete") expect(part, `after ${end} bytes`).to.deep.equal(whole);
        }
        const more = parseProxyHeader(Buffer.concat([bytes, rest]));
        if (whole.kind !== "incomplete") expect(more).to.deep.equal(whole);
        if (whole.kind === "header") expect(whole.length).to.be.at.most(Math.min(bytes.length, 552));
      }),
      { numRuns: 20 * runs, seed },
    );
  });

  describe("of TLS", () => {
    let gateway: Gateway;
    let hellos: readonly Buffer[];

    before(async () => {
      hellos = await recordHellos();
      gateway = await startGateway({ ports: [1], certificate: issueCertificate(["a.example"]) }, [
        "--proxy-tls-handshake-timeout=2s",
      ]);
    });
    after(() => gateway.close());

    const generated = fc.record({
      which: fc.nat({ max: 3 }),
      size: fc.constantFrom(16_384, 16_384, 1, 7, 100),
      changes: mutations,
    });
    const bytesOf = ({
      which,
      size,
      changes,
    }: {
      which: number;
      size: number;
      changes: readonly Mutation[];
    }): Buffer => mutate(inRecords(hellos[which] as Buffer, size), changes);

    it("a ClientHello is the same however it is cut", () => {
      fc.assert(
        fc.property(generated, (one) => {
          const bytes = bytesOf(one);
          const whole = peekClientHello(bytes);
          for (let end = 0; end < bytes.length; end += 13) {
            const part = peekClientHello(bytes.subarray(0, end));
            if (part.kind !== "incomplete") expect(part, `after ${end} bytes`).to.deep.equal(whole);
          }
        }),
        { numRuns: runs, seed },
      );
    });

    it("random first bytes leave no handshake and no connection behind", async () => {
      const open = (): number => gateway.metrics.connectionsActive.with({ listener: "443" }).value;
      await fc.assert(
        fc.asyncProperty(generated, fc.boolean(), async (one, resets) => {
          const socket = connect({ host: "127.0.0.1", port: gateway.tlsPort });
          socket.on("error", () => {});
          socket.resume();
          await once(socket, "connect");
          const closed = closeOf(socket);
          await new Promise<void>((resolve) => socket.write(bytesOf(one), () => resolve()));
          if (resets) socket.resetAndDestroy();
          else socket.end();
          await closed;
          await eventually(() => open() === 0);
        }),
        { numRuns: runs, seed },
      );
      const secure = connectTls({
        host: "127.0.0.1",
        port: gateway.tlsPort,
        servername: "a.example",
        rejectUnauthorized: false,
      });
      await once(secure, "secureConnect");
      expect((secure.address() as AddressInfo).port).to.be.a("number");
      secure.destroy();
      await eventually(() => open() === 0);
    });
  });
});
