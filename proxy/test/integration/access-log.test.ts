import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import {
  eventually,
  exchange,
  routeId,
  startGateway,
  startHttp,
  type Gateway,
  type HttpUpstream,
} from "./gateway.ts";

const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

describeCodecs("the access log of a class", (codec) => {
  let upstream: HttpUpstream;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    upstream = await startHttp((_, response) => void response.end("ok"));
    ({ port } = upstream);
    gateway = await startGateway({ ports: [port] });
  });

  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  it("a route that suppresses its access log has no line, also for refusals, but is counted", async () => {
    gateway.update({ ports: [port], accessLog: false });
    expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 200 /);
    gateway.update({
      ports: [port],
      accessLog: false,
      features: { "ip-access-control": { deny: [], allow: [] } },
    });
    expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 403 /);
    // The line of a later request comes after all lines of earlier ones.
    gateway.update({ ports: [port] });
    await exchange(gateway.port, get);
    await eventually(() => gateway.records.length > 0);
    expect(gateway.records.map(({ status }) => status)).to.deep.equal([200]);
    const { body } = await gateway.metrics.expose();
    const counted = body
      .split("\n")
      .filter((line) => line.startsWith("svc_proxy_requests_total{") && line.includes(routeId));
    const valueOf = (line: string): number => Number(line.slice(line.lastIndexOf(" ")));
    expect(counted.map(valueOf)).to.have.members([2, 1]);
    const ofRoute = (name: string): number =>
      valueOf(body.split("\n").find((line) => line.startsWith(`${name}{`) && line.includes(routeId)) ?? "");
    // Two answers of the backend, "ok", and that of the refused request.
    expect(ofRoute("svc_proxy_response_bytes_total")).to.be.above(4);
    expect(ofRoute("svc_proxy_upstream_first_byte_seconds_count")).to.equal(2);
    // Each of the two came on a connection of its own or reused the first.
    const connects = ofRoute("svc_proxy_upstream_connect_seconds_count");
    const opened = body
      .split("\n")
      .find((line) => line.startsWith('svc_proxy_upstream_connections_total{state="new"}'));
    expect(connects).to.equal(valueOf(opened ?? ""));
    expect(connects).to.be.above(0);
  });

  it("a request that is refused before routing has a line with the parts that were read, and is counted", async () => {
    gateway.records.length = 0;
    const long = `GET /${"a".repeat(20_000)}?token=secret HTTP/1.1\r\nHost: a.example\r\n\r\n`;
    expect(await exchange(gateway.port, long)).to.match(/^HTTP\/1\.1 414 /);
    expect(await exchange(gateway.port, "GET / HTTP/1.1\r\nHost : a\r\n\r\n")).to.match(/^HTTP\/1\.1 400 /);
    await eventually(() => gateway.records.length === 2);
    expect(
      gateway.records.map(({ host, method, path, status, clientIp, error }) => [
        host,
        method,
        path.slice(0, 3),
        status,
        clientIp,
        error,
      ]),
    ).to.deep.equal(
      codec === "native"
        ? [
            ["", "GET", "/aa", 414, "127.0.0.1", "uri-too-long"],
            ["", "GET", "/", 400, "127.0.0.1", "malformed"],
          ]
        : [
            ["a.example", "GET", "/aa", 414, "127.0.0.1", "uri-too-long"],
            ["", "", "", 400, "127.0.0.1", "malformed"],
          ],
    );
    expect(gateway.records[0]?.path).to.not.include("secret");
    const { body } = await gateway.metrics.expose();
    expect(body).to.include('route="",method="GET",status_code="414"} 1');
    expect(body).to.include('svc_proxy_request_duration_seconds_count{listener="80",route=""} 2');
  });

  it("the line of a refused request shows its address as received", async () => {
    gateway.records.length = 0;
    await exchange(gateway.port, "TRACE /a?secret HTTP/1.1\r\nHost: a.example:80\r\n\r\n");
    await exchange(gateway.port, "GET /b/%00?secret HTTP/1.1\r\nHost: a.example\r\n\r\n");
    await exchange(gateway.port, "GET /c HTTP/1.1\r\nHost: a b\r\n\r\n");
    await exchange(gateway.port, "GET http://user:secret@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n");
    expect(gateway.records.map(({ host, path, status }) => [host, path, status])).to.deep.equal([
      ["a.example:80", "/a", 405],
      ["a.example", "/b/%00", 400],
      ["a b", "/c", 400],
      ["a.example", "", 400],
    ]);
  });
});
