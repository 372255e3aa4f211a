import { expect } from "chai";
import { randomBytes } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { readTicketKeys } from "../../src/tls/ticket-keys.ts";
import { eventually } from "../http/h1/harness.ts";
import { issueCertificate } from "./certificates.ts";
import { describeHandshakes, startTls, stopTls, tlsPort, type TlsUnderTest } from "./harness.ts";

const a = issueCertificate(["a.example"]);
const b = issueCertificate(["b.example"]);
const certificates = tlsPort(["exact", "a.example", [a]], ["exact", "b.example", [b]]);

const newKey = (): string => randomBytes(48).toString("base64");

async function startWith(...keys: readonly string[]): Promise<TlsUnderTest> {
  const server = await startTls();
  server.terminators.useTicketKeys(readTicketKeys({ keys }));
  server.serve(certificates);
  return server;
}

type Version = "TLSv1.2" | "TLSv1.3";

/** A session that the server has given to a new client. */
async function sessionOf(server: TlsUnderTest, maxVersion: Version): Promise<Buffer> {
  const socket = await server.connect({ maxVersion, servername: "a.example" });
  // With TLS 1.3 the ticket follows the handshake.
  let session: Buffer | undefined = maxVersion === "TLSv1.2" ? socket.getSession() : undefined;
  socket.on("session", (given: Buffer) => (session = given));
  socket.resume();
  await eventually(() => session !== undefined);
  if (session === undefined) throw new Error("no session");
  return session;
}

const isResumed = async (
  server: TlsUnderTest,
  session: Buffer,
  maxVersion: Version,
  servername = "a.example",
): Promise<boolean> => {
  const socket: TLSSocket = await server.connect({ maxVersion, servername, session });
  return socket.isSessionReused();
};

describeHandshakes("session tickets", () => {
  afterEach(stopTls);

  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    describe(version, () => {
      it(`${version}: a session resumes at another proxy with the same ticket keys, and at none with other keys`, async () => {
        const key = newKey();
        const [first, second, foreign] = [
          await startWith(key),
          await startWith(key),
          await startWith(newKey()),
        ];
        const session = await sessionOf(first, version);
        expect(await isResumed(second, session, version)).to.equal(true);
        expect(await isResumed(foreign, session, version)).to.equal(false);
      });

      it(`${version}: a session ticket survives two key rotations and not a third`, async () => {
        const keys = [newKey(), newKey(), newKey(), newKey()] as const;
        const server = await startWith(keys[0]);
        const session = await sessionOf(server, version);
        const use = (...present: readonly string[]): void =>
          server.terminators.useTicketKeys(readTicketKeys({ keys: present }));
        use(keys[1], keys[0]);
        expect(await isResumed(server, session, version)).to.equal(true);
        use(keys[2], keys[1], keys[0]);
        expect(await isResumed(server, session, version)).to.equal(true);
        const younger = await sessionOf(server, version);
        use(keys[3], keys[2], keys[1]);
        expect(await isResumed(server, session, version)).to.equal(false);
        expect(await isResumed(server, younger, version)).to.equal(true);
      });

      it(`${version}: a session does not resume under a name with other certificates`, async () => {
        const server = await startWith(newKey());
        const session = await sessionOf(server, version);
        expect(await isResumed(server, session, version, "b.example")).to.equal(false);
      });
    });
  }

  it("a rotation of ticket keys does not touch open connections", async () => {
    const server = await startWith(newKey());
    const socket = await server.connect({ servername: "a.example" });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    server.terminators.useTicketKeys(readTicketKeys({ keys: [newKey()] }));
    socket.write("still here");
    await eventually(() => text === "a.example|still here");
  });
});
