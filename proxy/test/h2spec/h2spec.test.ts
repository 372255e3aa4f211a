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
 * Cases that send frames on a stream right after ending it. Their outcome depends on whether the response, which closes
 * the stream, comes first. They are therefore played on a path that is never answered; with a response, they are the
 * first and the third of the known differences.
 */
const halfClosed: ReadonlyMap<string, string> = new Map([
  ["http2/5.1/5", "http2/5.1 half closed (remote): Sends a DATA frame"],
  ["http2/5.1/6", "http2/5.1 half closed (remote): Sends a HEADERS frame"],
  [
    "http2/6.1/2",
    'http2/6.1 Sends a DATA frame on the stream that is not in "open" or "half-closed (local)" state',
  ],
]);

/** A request to this path gets no response. */
const neverAnswered = "/never-answered";

/**
 * Cases that fail or pass by chance with the node codec only. An unsolicited acknowledgement of a PING makes the proxy
 * send a PING to test whether the connection is open (docs/features/http2.md). h2spec takes the first PING frame that
 * it receives for its answer, and this one can arrive first.
 */
const byChanceOfNode: readonly string[] = ["http2/6.7 Sends a PING frame with ACK"];

const failed = (outcomes: readonly Outcome[], undecided: readonly string[]): readonly string[] =>
  outcomes
    .filter(({ name, verdict }) => verdict !== "passed" && !undecided.includes(name))
    .map(({ name }) => name);

describeHttp2Codecs("h2spec", function (codec) {
  // Cases that wait for an answer that never comes.
  const playLimitMs = 300_000;
  // The first time it is downloaded and compiled, beside everything else that runs.
  const buildLimitMs = 1_800_000;
  this.timeout(playLimitMs);
  const undecided = [...halfClosed.values(), ...(codec === "node" ? byChanceOfNode : [])];
  let gateway: Gateway;
  let backend: Server;
  let overTls: readonly Outcome[];
  let inCleartext: readonly Outcome[];
  let unanswered: readonly Outcome[];

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
      if (request.url === neverAnswered) return;
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
    const secure = { port: gateway.tlsPort, tls: true, timeoutSeconds };
    const cleartext = { port: gateway.port, tls: false, timeoutSeconds };
    // Mostly waiting, so both at once.
    [overTls, inCleartext] = await Promise.all([playH2spec(program, secure), playH2spec(program, cleartext)]);
    const cases = [...halfClosed.keys()];
    unanswered = [
      ...(await playH2spec(program, { ...secure, path: neverAnswered, cases })),
      ...(await playH2spec(program, { ...cleartext, path: neverAnswered, cases })),
    ];
  });
  after(async () => {
    await gateway?.close();
    backend?.closeAllConnections();
    backend?.close();
  });

  it("h2spec finds only the known differences over TLS", () => {
    expect(overTls.length).to.be.at.least(146);
    expect(overTls.map(({ name }) => name)).to.include.members(undecided);
    expect(failed(overTls, undecided)).to.have.members(codec === "node" ? knownDifferences : []);
  });

  it("h2spec finds only the known differences in cleartext", () => {
    expect(inCleartext.length).to.be.at.least(146);
    expect(inCleartext.map(({ name }) => name)).to.include.members(undecided);
    const differences = codec === "node" ? knownDifferences : [];
    expect(failed(inCleartext, undecided)).to.have.members([...differences, cleartextDifference]);
  });

  it("h2spec finds that frames on a half-closed stream are refused", () => {
    const names = [...halfClosed.values()];
    expect(unanswered.map(({ name }) => name)).to.have.members([...names, ...names]);
    expect(failed(unanswered, [])).to.deep.equal([]);
  });
});
