import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls, type SecureVersion } from "node:tls";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually, type Gateway, type HttpUpstream, startGateway, startHttp } from "./gateway.ts";

const host = "a.example";
const changes = 50;

type Shaken = { readonly ticket: Buffer | undefined; readonly isResumed: boolean; readonly text: string };

describeCodecs("certificates that change under load", () => {
  let backend: HttpUpstream;
  let gateway: Gateway;
  afterEach(async () => {
    await gateway.close();
    await backend.close();
  });

  /** One request on a connection of its own; throws where it fails. */
  const ask = async (maxVersion: SecureVersion, session?: Buffer): Promise<Shaken> => {
    const socket = connectTls({
      ...{ port: gateway.tlsPort, host: "127.0.0.1", servername: host },
      ...{ rejectUnauthorized: false, maxVersion, ...(session && { session }) },
    });
    let [ticket, text, isResumed]: [Buffer | undefined, string, boolean] = [undefined, "", false];
    // Forgotten when the connection is closed.
    socket.on("secureConnect", () => (isResumed = socket.isSessionReused()));
    socket.on("session", (next: Buffer) => (ticket = next));
    socket.on("data", (data: Buffer) => (text += data.toString("latin1")));
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    await once(socket, "close");
    return { ticket, isResumed, text };
  };

  it("a certificate that cannot be read is left out of a snapshot, and a hundred others are served", async () => {
    backend = await startHttp((_, response) => void response.end("ok"));
    const good = issueCertificate(["*.example"]);
    const broken = { ...good, chainPem: good.chainPem.replace(/[a-zA-Z0-9+/]{20}/, "!") };
    const names = Array.from({ length: 101 }, (_, index) => `host-${index}.example`);
    gateway = await startGateway({
      ports: [backend.port],
      hosts: names,
      certificates: {
        certificates: Object.fromEntries(names.map((name, index) => [name, index === 50 ? broken : good])),
        hosts: names.map((name) => ({ bucket: "exact", host: name, certificates: [name] })),
      },
    });
    const statusOf = (name: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connectTls({
          ...{ port: gateway.tlsPort, host: "127.0.0.1", servername: name, rejectUnauthorized: false },
        });
        let text = "";
        socket.on("data", (data: Buffer) => (text += data.toString("latin1")));
        socket.on("error", () => {});
        socket.on("close", () => resolve(text.split(" ")[1] ?? "refused"));
        socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
      });
    const statuses: string[] = [];
    for (const name of names) statuses.push(await statusOf(name));
    expect(statuses).to.deep.equal(names.map((_, index) => (index === 50 ? "refused" : "200")));
  });

  it("no handshake and no request fails while the certificates of a listener change fifty times", async () => {
    backend = await startHttp((_, response) => void response.end("ok"));
    const certificates = [issueCertificate([host]), issueCertificate([host], { type: "rsa" })];
    const planOf = (change: number) => ({
      ports: [backend.port],
      certificate: certificates[change % 2] as (typeof certificates)[number],
    });
    gateway = await startGateway(planOf(0));
    let [fresh, resumed, held] = [0, 0, 0];
    let isOver = false;
    const shake = async (version: SecureVersion): Promise<void> => {
      let ticket: Buffer | undefined;
      for (let turn = 0; !isOver; turn++) {
        const shaken = await ask(version, turn % 3 === 0 ? undefined : ticket);
        expect(shaken.text).to.match(/^HTTP\/1\.1 200 [^]*ok$/);
        if (shaken.isResumed) resumed++;
        else fresh++;
        ticket = shaken.ticket ?? ticket;
      }
    };
    const session = connectHttp2(`https://127.0.0.1:${gateway.tlsPort}`, {
      ...{ servername: host, rejectUnauthorized: false },
    });
    let ends = 0;
    session.on("goaway", () => ends++);
    session.on("close", () => ends++);
    const hold = async (): Promise<void> => {
      while (!isOver) {
        const stream = session.request({ ":path": "/", ":authority": host });
        stream.resume();
        const [head] = (await once(stream, "response")) as [Record<string, unknown>];
        expect(head[":status"]).to.equal(200);
        await once(stream, "close");
        held++;
      }
    };
    const clients = Promise.all([shake("TLSv1.3"), shake("TLSv1.2"), hold()]);
    const changeAll = async (): Promise<void> => {
      for (let change = 1; change <= changes; change++) {
        const [shaken, before] = [fresh + resumed + 2, held];
        gateway.update(planOf(change));
        await eventually(() => fresh + resumed >= shaken && held > before);
      }
      isOver = true;
    };
    await Promise.all([clients, changeAll()]);
    expect(ends).to.equal(0);
    session.destroy();
    // A third of the handshakes offer no session.
    expect(Math.min(fresh, resumed)).to.be.greaterThan(changes / 5);
  });
});
