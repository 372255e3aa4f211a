import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { startGateway, type Gateway } from "../integration/gateway.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { buildH2spec, hasGo, playH2spec, type Outcome } from "./program.ts";

/** The cases that nghttp2 fails; docs/features/http2.md has the reasons. Node's own server fails the same cases. */
const knownDifferences = [
  "http2/5.1 closed: Sends a DATA frame",
  "http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame",
  "http2/5.1 closed: Sends a HEADERS frame",
  "http2/5.1 closed: Sends a HEADERS frame after sending RST_STREAM frame",
  "http2/5.1.1 Sends stream identifier that is numerically smaller than previous",
  "http2/5.3.1 Sends PRIORITY frame that depend on itself",
  "http2/6.3 Sends a PRIORITY frame with 0x0 stream identifier",
  "http2/6.9.1 Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream",
];

/** A case whose answer comes later than that counts as failed, also when the machine was paused meanwhile. */
const timeoutSeconds = 6;

/** On a cleartext port, bytes that are not an HTTP/2 preface are answered as HTTP/1. */
const cleartextDifference = "http2/3.5 Sends invalid connection preface";

/**
 * Cases that fail or pass by chance. Frames on a stream that h2spec has ended arrive before or after the response,
 * which closes the stream. Before it, they are refused as h2spec expects (see ../http/h2/front-malformed.test.ts).
 * After it, they are the first and the third of the known differences.
 */
const eitherWay: readonly string[] = [
  "http2/5.1 half closed (remote): Sends a DATA frame",
  "http2/5.1 half closed (remote): Sends a HEADERS frame",
];

/**
 * Cases that fail or pass by chance with the node codec only. An unsolicited acknowledgement of a PING makes the proxy
 * send a PING to test whether the connection is open (docs/features/http2.md). h2spec takes the first PING frame that
 * it receives for its answer, and this one can arrive first.
 */
const eitherWayOfNode: readonly string[] = ["http2/6.7 Sends a PING frame with ACK"];

const failed = (outcomes: readonly Outcome[], byChance: readonly string[]): readonly string[] =>
  outcomes
    .filter(({ name, verdict }) => verdict !== "passed" && !byChance.includes(name))
    .map(({ name }) => name);

describeHttp2Codecs("h2spec", function (codec) {
  // Cases that wait for an answer that never comes.
  const playLimitMs = 300_000;
  // The first time it is downloaded and compiled, beside everything else that runs.
  const buildLimitMs = 1_800_000;
  this.timeout(playLimitMs);
  const byChance = codec === "node" ? [...eitherWay, ...eitherWayOfNode] : eitherWay;
  let gateway: Gateway;
  let backend: Server;
  let overTls: readonly Outcome[];
  let inCleartext: readonly Outcome[];

  before(async function () {
    this.timeout(buildLimitMs);
    if (!(await hasGo())) {
      process.stderr.write("h2spec is skipped: building it needs a Go toolchain (go.dev)\n");
      this.skip();
    }
    const built = await buildH2spec();
    if (!built.ok) {
      process.stderr.write(`h2spec is skipped: it cannot be built: ${built.error.message}\n`);
      this.skip();
    }
    this.timeout(playLimitMs);
    const program = built.value;
    backend = createServer((request, response) => {
      request.resume().on("end", () => response.end("hello from the backend\n"));
    });
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    const { chainPem, keyPem } = issueCertificate(["a.example"]);
    gateway = await startGateway({
      ports: [(backend.address() as AddressInfo).port],
      hosts: ["127.0.0.1"],
      // h2spec names no server.
      certificates: {
        certificates: { default: { chainPem, keyPem } },
        hosts: [{ bucket: "default", host: "*", certificates: ["default"] }],
      },
    });
    // Mostly waiting, so both at once.
    [overTls, inCleartext] = await Promise.all([
      playH2spec(program, { port: gateway.tlsPort, tls: true, timeoutSeconds }),
      playH2spec(program, { port: gateway.port, tls: false, timeoutSeconds }),
    ]);
  });
  after(async () => {
    await gateway?.close();
    backend?.closeAllConnections();
    backend?.close();
  });

  it("h2spec finds only the known differences over TLS", () => {
    expect(overTls.length).to.be.at.least(146);
    expect(overTls.map(({ name }) => name)).to.include.members(byChance);
    expect(failed(overTls, byChance)).to.have.members(codec === "node" ? knownDifferences : []);
  });

  it("h2spec finds only the known differences in cleartext", () => {
    expect(inCleartext.length).to.be.at.least(146);
    expect(inCleartext.map(({ name }) => name)).to.include.members(byChance);
    const differences = codec === "node" ? knownDifferences : [];
    expect(failed(inCleartext, byChance)).to.have.members([...differences, cleartextDifference]);
  });
});
