import { connect } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import fc from "fast-check";
import { startGateway, type Gateway } from "../integration/gateway.ts";
import { readRequests, type ReadRequest } from "./reference-parser.ts";
import { generatedRequests } from "./requests.ts";
import { startStrictBackend } from "./strict-backend.ts";

/** 3 or 4 requests on each: 10,000 and more in all. */
const connections = 3400;
/** The same requests in each run; SEED=<integer> makes others. */
const seed = Number(process.env["SEED"] ?? 9112);

/** Sends the bytes, ends the sending side, and resolves with everything that comes back. */
function send(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
    socket.end(bytes, "latin1");
  });
}

/**
 * Statuses and bodies of answers with a declared length, as all of them are here. A client that has ended its side and
 * waits for long is asked by interim responses whether it is still there; they answer nothing.
 */
function readAnswers(text: string): readonly { readonly status: number; readonly body: string }[] {
  const answers = [];
  for (let at = 0; at < text.length;) {
    const [interim] = /^HTTP\/1\.1 100 [^]*?\r\n\r\n/.exec(text.slice(at)) ?? [];
    if (interim !== undefined) {
      at += interim.length;
      continue;
    }
    const [head, status = "", length = ""] =
      /^HTTP\/1\.1 (\d{3}) [^]*?\r\nContent-Length: (\d+)\r\n[^]*?\r\n\r\n/i.exec(text.slice(at)) ?? [];
    if (head === undefined) throw new Error(`no answer: ${JSON.stringify(text.slice(at))}`);
    const start = at + head.length;
    at = start + Number(length);
    answers.push({ status: Number(status), body: text.slice(start, at) });
  }
  return answers;
}

/** The parts of a request that a proxy must pass on unchanged. */
const meaning = ({ method, target, fields, body }: ReadRequest): object => ({
  method,
  target: target.replace("http://a.example/", "/"),
  fields: fields.filter(([name]) => name.startsWith("x-t")),
  body,
});

describeCodecs("10,000 generated requests, to the proxy and to a strict reader", function () {
  this.timeout(300_000);
  let gateway: Gateway;
  let backend: Awaited<ReturnType<typeof startStrictBackend>>;
  let seen: ReadRequest[] = [];
  const faults: string[] = [];

  before(async () => {
    backend = await startStrictBackend(faults, (request) => {
      seen.push(request);
      return request.target;
    });
    gateway = await startGateway({ ports: [backend.port], hosts: ["a.example", "b.example"] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it("generated requests are understood alike by proxy and backend: none is smuggled, merged, split or changed", async () => {
    let next = 0;
    let sent = 0;
    let passed = 0;
    const connection = fc.array(generatedRequests, { minLength: 3, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(connection, async (requests) => {
        seen = [];
        const bytes = requests.map((request) => request(`/r/${next++}`)).join("");
        const expected = readRequests(bytes);
        const answers = readAnswers(await send(gateway.port, bytes));
        const about = `${JSON.stringify(bytes)}, which ends ${JSON.stringify(expected.end)}`;
        sent += requests.length;
        passed += seen.length;

        expect(faults, `well-formed for the backend: ${about}`).to.deep.equal([]);
        const served = answers.filter(({ status }) => status === 200);
        expect(
          seen.map(({ target }) => target),
          `each answer is that of its request: ${about}`,
        ).to.deep.equal(served.map(({ body }) => body));
        expect(seen.map(meaning), `understood alike: ${about}`).to.deep.equal(
          expected.requests.slice(0, seen.length).map(meaning),
        );
        expect(
          answers.slice(0, served.length).every(({ status }) => status === 200),
          `nothing is served after a refusal: ${about}`,
        ).to.equal(true);
      }),
      { numRuns: connections, seed },
    );
    expect(sent).to.be.at.least(10_000);
    expect(passed / sent, "share of requests that were served").to.be.greaterThan(0.4);
  });
});
