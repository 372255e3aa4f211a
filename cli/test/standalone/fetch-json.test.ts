import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { readCidrs } from "@svc-gateway/common/values/cidr.ts";
import { fetchJson, type FetchOptions } from "@svc-gateway/operator/jwks/fetch-json.ts";
import { issueCertificate } from "../../../proxy/test/tls/certificates.ts";

const { chainPem, keyPem } = issueCertificate(["localhost"]);
const loopback = readCidrs(["127.0.0.0/8", "::1"]).cidrs;

describe("fetching JSON that a tenant names", () => {
  let server: Server;
  let answer: RequestListener;
  let seen: string[];

  beforeEach(async () => {
    seen = [];
    server = createServer({ cert: chainPem, key: keyPem }, (request, response) => {
      seen.push(`${request.headers.host} ${request.url}`);
      answer(request, response);
    });
    server.listen(0, "localhost");
    await once(server, "listening");
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });

  const port = (): number => (server.address() as AddressInfo).port;
  const fetch = (path: string, options: Partial<FetchOptions> = {}): ReturnType<typeof fetchJson> =>
    fetchJson(`https://localhost:${port()}${path}`, {
      allowCidrs: loopback,
      signal: new AbortController().signal,
      ca: chainPem,
      ...options,
    });
  const why = async (fetched: ReturnType<typeof fetchJson>): Promise<string> => {
    const result = await fetched;
    return result.ok ? "" : result.error.message;
  };

  it("a fetch returns the JSON of the server, which is addressed by its name", async () => {
    answer = (_, response) => response.end('{"keys":[]}');
    expect(await fetch("/a?b=c")).to.deep.equal({ ok: true, value: { keys: [] } });
    expect(seen).to.deep.equal([`localhost:${port()} /a?b=c`]);
  });

  it("a fetch never connects to an address that is neither public nor allowed", async () => {
    answer = (_, response) => response.end("{}");
    const urls = ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"];
    for (const host of [
      ...urls,
      "169.254.169.254",
      "10.0.0.1",
      "100.64.0.1",
      "[fd00::1]",
      "[64:ff9b::a00:1]",
      "0.0.0.0",
    ]) {
      const fetched = fetchJson(`https://${host}:${port()}/`, {
        allowCidrs: [],
        signal: AbortSignal.timeout(60_000),
      });
      expect(await why(fetched), host).to.match(/no public address|cannot be resolved/);
    }
    expect(seen).to.deep.equal([]);
  });

  it("a fetch does not follow redirects", async () => {
    answer = (_, response) => response.writeHead(302, { location: "/other" }).end();
    expect(await why(fetch("/"))).to.equal("the answer has status 302, not 200");
    expect(seen).to.have.lengthOf(1);
  });

  it("a response of more than 1 MiB is rejected", async () => {
    answer = (_, response) => response.end(Buffer.alloc(1024 * 1024 + 1, "x"));
    expect(await why(fetch("/"))).to.equal("the answer has more than 1 MiB");
  });

  it("a response that is not JSON is rejected", async () => {
    answer = (_, response) => response.end("<html>");
    expect(await why(fetch("/"))).to.equal("the answer is not JSON");
  });

  it("a fetch without a response times out", async () => {
    answer = () => {};
    // The time may be over before the connection is open, but not before the name is resolved.
    const { address, family } = server.address() as AddressInfo;
    const resolve = () => Promise.resolve([{ address, family: family === "IPv6" ? 6 : 4 }]);
    expect(await why(fetch("/", { timeoutMs: 200, resolve }))).to.equal("the request timed out");
  });

  it("a truncated response is rejected", async () => {
    answer = (_, response) => {
      response.writeHead(200, { "content-length": "10" });
      response.write("{", () => response.destroy());
    };
    expect(await why(fetch("/"))).to.match(/broke off|connection failed/);
  });

  it("a certificate of an untrusted authority is rejected", async () => {
    answer = (_, response) => response.end("{}");
    const otherAuthority = issueCertificate(["localhost"]).chainPem;
    expect(await why(fetch("/", { ca: otherAuthority }))).to.match(/^the connection failed \(/);
  });
});
