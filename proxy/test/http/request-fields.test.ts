import { expect } from "chai";
import type { ClientConnection } from "../../src/exchange/client-connection.ts";
import { addForwardingFields, fieldsToMatch, readRequestFields } from "../../src/http/request-fields.ts";
import { emptyPortTable } from "../../src/routing/changing-port-table.ts";
import { samePublicPorts } from "../listeners/public-ports.ts";
import { Fields } from "../../src/message/fields.ts";

describe("readRequestFields", () => {
  it("end-to-end fields are kept in order and as spelled", () => {
    const { headers } = readRequestFields(Fields.of(["Accept", "*/*", "x-a", "1", "X-A", "2"]), "1.1");
    expect(headers.toList()).to.deep.equal(["Accept", "*/*", "x-a", "1", "X-A", "2"]);
  });

  it("hop-by-hop and framing fields and those that Connection names are removed", () => {
    const received = [
      "Host",
      "a",
      "Connection",
      "keep-alive, X-Hop",
      "X-Hop",
      "1",
      "Keep-Alive",
      "timeout=5",
    ];
    received.push("Transfer-Encoding", "chunked", "Content-Length", "1", "Trailer", "x", "Proxy-Thing", "1");
    received.push("Upgrade", "h2c", "HTTP2-Settings", "x", "X-End", "1");
    expect(readRequestFields(Fields.of([...received]), "1.1").headers.toList()).to.deep.equal(["X-End", "1"]);
  });

  it("fields with credentials are kept although Connection names them", () => {
    const received = ["Connection", "Authorization, Cookie", "Authorization", "b", "Cookie", "c"];
    expect(readRequestFields(Fields.of([...received]), "1.1").headers.toList()).to.deep.equal([
      "Authorization",
      "b",
      "Cookie",
      "c",
    ]);
  });

  it("forwarding fields of the client are removed, also when spelled with underscores", () => {
    const names = [
      "Forwarded",
      "X-Forwarded-For",
      "X_Forwarded_For",
      "x-forwarded-PROTO",
      "X-Forwarded-Host",
    ];
    names.push("X-Forwarded-Port", "X-Real-IP", "X_Real-IP", "X-SSL-Client-Cert");
    const received = names.flatMap((name) => [name, "forged"]);
    expect(readRequestFields(Fields.of([...received]), "1.1").headers.toList()).to.deep.equal([]);
  });

  it("Proxy is removed in any case, since CGI programs would take it for their own setting", () => {
    const received = ["Proxy", "http://evil.example", "PROXY", "x", "proxy", "y", "X-Proxy", "z"];
    for (const version of ["1.0", "1.1", "2.0"] as const)
      expect(readRequestFields(Fields.of([...received]), version).headers.toList()).to.deep.equal([
        "X-Proxy",
        "z",
      ]);
  });

  it("fields that look like framing to servers that treat `_` like `-` are removed", () => {
    const received = ["Transfer_Encoding", "chunked", "Content_Length", "7", "Keep_Alive", "x", "X_Own", "1"];
    expect(readRequestFields(Fields.of([...received]), "1.1").headers.toList()).to.deep.equal(["X_Own", "1"]);
  });

  it("`TE: trailers` is passed on without the other values of TE", () => {
    expect(readRequestFields(Fields.of(["TE", "gzip, trailers"]), "2.0").headers.toList()).to.deep.equal([
      "te",
      "trailers",
    ]);
    expect(readRequestFields(Fields.of(["TE", "gzip"]), "1.1").headers.toList()).to.deep.equal([]);
  });

  it("an upgrade is recognised only on HTTP/1.1 with the Connection option", () => {
    const received = ["Connection", "Upgrade", "Upgrade", "WebSocket"];
    expect(readRequestFields(Fields.of([...received]), "1.1").upgrade).to.equal("websocket");
    expect(readRequestFields(Fields.of([...received]), "1.0").upgrade).to.equal(undefined);
    expect(readRequestFields(Fields.of(["Upgrade", "websocket"]), "1.1").upgrade).to.equal(undefined);
  });

  it("gRPC is recognised by its content type, and the proxy's own Via entries are counted", () => {
    const fields = readRequestFields(
      Fields.of(["Content-Type", "application/grpc+proto", "Via", "1.1 svc, 1.0 other"]),
      "2.0",
    );
    expect(fields.grpc).to.equal(true);
    expect(fields.ownVias).to.equal(1);
    expect(readRequestFields(Fields.of(["Content-Type", "application/grpc-web"]), "1.1").grpc).to.equal(
      false,
    );
  });
});

describe("fieldsToMatch", () => {
  it("the fields to match are those that filters left, with those of the connection and of proxies as the client sent them", () => {
    const received = [
      "Host",
      "a",
      "Connection",
      "upgrade, X-User",
      "Upgrade",
      "websocket",
      "X-User",
      "forged",
    ];
    received.push("X-Forwarded-For", "192.0.2.9", "Via", "1.1 other", "Accept", "*/*");
    const filtered = ["Accept", "text/plain", "X-User", "alice", "content-type", "text/css"];
    filtered.push("X-Forwarded-For", "127.0.0.1", "Via", "1.1 svc");
    expect(fieldsToMatch(Fields.of(received), Fields.of(filtered)).toList()).to.deep.equal(
      [
        ["Host", "a", "Connection", "upgrade, X-User", "Upgrade", "websocket"],
        ["X-Forwarded-For", "192.0.2.9", "Via", "1.1 other"],
        ["Accept", "text/plain", "X-User", "alice", "content-type", "text/css"],
      ].flat(),
    );
  });
});

describe("addForwardingFields", () => {
  const connection = (over: Partial<ClientConnection>): ClientConnection => ({
    remoteAddress: "192.0.2.7",
    remotePort: 5000,
    proxied: false,
    tls: undefined,
    listener: {
      port: 443,
      portLabel: "443",
      publicPorts: samePublicPorts(443),
      secure: true,
      draining: false,
      table: emptyPortTable,
    },
    ...over,
  });

  it("the forwarding fields describe the connection", () => {
    const headers = Fields.none();
    const request = {
      authority: "a.example",
      host: "a.example",
      version: "1.1",
      clientIp: "192.0.2.7",
      publicPort: { port: 8443, label: "8443" },
    } as const;
    addForwardingFields(headers, connection({}), request, true);
    expect(headers.toList()).to.deep.equal([
      ...["X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "a.example"],
      ...["X-Forwarded-Port", "8443", "X-Real-IP", "192.0.2.7", "Via", "1.1 svc"],
    ]);
  });

  it("Forwarded is added on connections with the PROXY protocol", () => {
    const headers = Fields.none();
    const proxied = connection({ proxied: true, remoteAddress: "2001:db8::1" });
    const request = {
      authority: "",
      host: "",
      version: "1.0",
      clientIp: "2001:db8::1",
      publicPort: { port: 80, label: "80" },
    } as const;
    addForwardingFields(headers, proxied, request, false);
    expect(headers.toList().slice(-2)).to.deep.equal(["Forwarded", 'for="[2001:db8::1]:5000";proto=https']);
    expect(headers.toList()).not.to.include("X-Forwarded-Host");
  });

  it("a connection remembers the host of its last request, and what was said about it", () => {
    const kept = connection({});
    const request = {
      authority: "A.example:443",
      host: "a.example",
      version: "1.1",
      clientIp: "192.0.2.7",
      publicPort: { port: 443, label: "443" },
    } as const;
    addForwardingFields(Fields.none(), kept, request, false);
    const first = kept.forwarding;
    expect(first).to.deep.include({ authority: "A.example:443", host: "a.example" });
    addForwardingFields(Fields.none(), kept, { ...request }, false);
    expect(kept.forwarding).to.equal(first);
    addForwardingFields(
      Fields.none(),
      kept,
      { ...request, authority: "b.example", host: "b.example" },
      false,
    );
    const other = kept.forwarding;
    expect(other).to.deep.include({ authority: "b.example", host: "b.example" });
    addForwardingFields(Fields.none(), kept, { ...request, authority: "b.example", host: "b.example" }, true);
    expect(kept.forwarding).not.to.equal(other);
  });
});
