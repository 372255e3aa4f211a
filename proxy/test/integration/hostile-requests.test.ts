import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { eventually, exchange, startGateway, startTcp, type Gateway } from "./gateway.ts";

const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** Requests that must be refused, each with the status that the client sees. */
const refused: readonly [string, string, number][] = [
  ["two Host fields", "GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n", 400],
  ["no Host", "GET / HTTP/1.1\r\nX: y\r\n\r\n", 400],
  ["a bad Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
  ["user information", "GET / HTTP/1.1\r\nHost: u@a.example\r\n\r\n", 400],
  ["an absolute form that differs", "GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
  [
    "length and coding together",
    "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
  ],
  [
    "two lengths",
    "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    400,
  ],
  ["a signed length", "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: +1\r\n\r\na", 400],
  [
    "another coding",
    "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    501,
  ],
  ["a space before the colon", "GET / HTTP/1.1\r\nHost : a.example\r\n\r\n", 400],
  ["line folding", "GET / HTTP/1.1\r\nHost: a.example\r\nX: a\r\n b\r\n\r\n", 400],
  ["a control character", "GET / HTTP/1.1\r\nHost: a.example\r\nX: a\u0001b\r\n\r\n", 400],
  ["a NUL in the path", "GET /%00 HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
  ["a bad escape", "GET /%zz HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
  ["a fragment in the query", "GET /?a#b HTTP/1.1\r\nHost: a.example\r\n\r\n", 400],
  ["the method TRACE", "TRACE / HTTP/1.1\r\nHost: a.example\r\n\r\n", 405],
  ["the method CONNECT", "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", 405],
  ["a long target", `GET /${"a".repeat(17 * 1024)} HTTP/1.1\r\nHost: a.example\r\n\r\n`, 414],
  ["a long field", `GET / HTTP/1.1\r\nHost: a.example\r\nX: ${"a".repeat(66 * 1024)}\r\n\r\n`, 431],
  ["many fields", `GET / HTTP/1.1\r\nHost: a.example\r\n${"X: y\r\n".repeat(100)}\r\n`, 431],
  [
    "an unknown expectation",
    "GET / HTTP/1.1\r\nHost: a.example\r\nExpect: x\r\nConnection: close\r\n\r\n",
    417,
  ],
  [
    "an unknown expectation beside a known one",
    "GET / HTTP/1.1\r\nHost: a.example\r\nExpect: x\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
    417,
  ],
];

describeCodecs("hostile requests", () => {
  let gateway: Gateway;
  let backend: Awaited<ReturnType<typeof startTcp>>;
  let seen = "";

  before(async () => {
    backend = await startTcp((socket) =>
      socket.on("data", (chunk: Buffer) => {
        seen += chunk.toString("latin1");
        socket.write(answer);
      }),
    );
    gateway = await startGateway({ ports: [backend.port] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  for (const [name, bytes, status] of refused) {
    it(`a request with ${name} gets ${status}, and no byte goes upstream`, async () => {
      seen = "";
      const text = await exchange(gateway.port, bytes);
      expect(text).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(text.split("HTTP/1.1").length - 1, "one answer only").to.equal(1);
      expect(seen).to.equal("");
    });
  }

  it("a head that does not arrive in time gets 408, and a silent connection is closed without an answer", async () => {
    const impatient = await startGateway({ ports: [] }, ["--proxy-client-header-timeout=1s"]);
    expect(await exchange(impatient.port, "GET / HTTP/1.1\r\nHo")).to.match(/^HTTP\/1\.1 408 /);
    expect(await exchange(impatient.port, "")).to.equal("");
    await impatient.close();
  });

  it("a request with a body is not sent upstream as an upgrade", async () => {
    const upgrade = "Connection: Upgrade, close\r\nUpgrade: websocket\r\n";
    seen = "";
    await exchange(
      gateway.port,
      `POST / HTTP/1.1\r\nHost: a.example\r\n${upgrade}Content-Length: 3\r\n\r\nabc`,
    );
    await eventually(() => /^POST \/ HTTP[^]*\r\n\r\nabc$/.test(seen));
    expect(seen.toLowerCase()).to.not.include("upgrade");
  });

  it("a client that leaves in the middle of its body is logged", async () => {
    const before = gateway.records.length;
    const { connect } = await import("node:net");
    const socket = connect({ host: "127.0.0.1", port: gateway.port });
    socket.on("error", () => {});
    seen = "";
    socket.write("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\nabc");
    await eventually(() => seen.includes("abc"));
    socket.destroy();
    await eventually(() => gateway.records.length > before);
    expect(gateway.records.at(-1)?.status).to.be.oneOf([200, 499]);
  });

  it("refused requests are counted by limit and logged", async () => {
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost: a.example\r\nX: a\r\n b\r\n\r\n");
    expect(gateway.metrics.limitsReached.with({ limit: "malformed" }).value).to.be.greaterThan(0);
    const tooMany = gateway.metrics.limitsReached.with({ limit: "too-many-headers" });
    const before = tooMany.value;
    for (const fields of [101, 102, 500]) {
      const head = `GET /many HTTP/1.1\r\nHost: a.example\r\n${"X: y\r\n".repeat(fields - 1)}\r\n`;
      expect(await exchange(gateway.port, head)).to.match(/^HTTP\/1\.1 431 /);
      expect(gateway.records.at(-1)).to.include({ method: "GET", path: "/many", error: "too-many-headers" });
    }
    expect(tooMany.value - before).to.equal(3);
  });
});
