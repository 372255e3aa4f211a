import { expect } from "chai";
import { Fields } from "../../src/message/fields.ts";
import { relayedResponseTrailers, relayedTrailers } from "../../src/message/trailers.ts";

describe("relayedTrailers", () => {
  it("trailers that frame, route or authenticate a message are dropped in any spelling", () => {
    const hostile = [
      "Host",
      "X_Forwarded_For",
      "x-real_ip",
      "Proxy",
      "Proxy-Foo",
      "proxy_authorization",
      "Content_Length",
    ];
    const trailers = hostile.flatMap((name) => [name, "1"]);
    expect(relayedTrailers(trailers, Fields.of([]), [])).to.equal(undefined);
    for (const grpc of [true, false])
      expect(relayedResponseTrailers(trailers, [], { grpc, transformed: false })).to.equal(undefined);
  });

  it("other trailers of a request are kept in order and as spelled", () => {
    const trailers = ["X-Sum", "1", "Host", "a", "grpc-status", "0"];
    expect(relayedTrailers(trailers, Fields.of([]), [])).to.deep.equal(["X-Sum", "1", "grpc-status", "0"]);
  });

  it("a trailer of a request that repeats a field of the head is dropped", () => {
    expect(relayedTrailers(["X-A", "1", "x_b", "2"], Fields.of(["x-a", "0", "X-B", "0"]), [])).to.equal(
      undefined,
    );
  });

  it("a trailer of a request that a filter of the route owns is dropped, the others are kept", () => {
    const trailers = ["X_User", "admin", "X-Sum", "1"];
    expect(relayedTrailers(trailers, Fields.of(["Accept", "*/*"]), ["x-user"])).to.deep.equal(["X-Sum", "1"]);
  });
});

describe("relayedResponseTrailers", () => {
  const plain = { grpc: false, transformed: false };

  it("a trailer of a response that a filter of the route owns is dropped in any spelling, the others are kept", () => {
    const trailers = ["X_Internal", "1", "x-internal", "2", "X-Sum", "3"];
    expect(relayedResponseTrailers(trailers, ["X-Internal"], plain)).to.deep.equal(["X-Sum", "3"]);
    expect(relayedResponseTrailers(trailers.slice(0, 4), ["x_internal"], plain)).to.equal(undefined);
  });

  it("the status trailers of a gRPC call are kept although a filter of the route owns them", () => {
    const status = ["grpc-status", "5", "grpc-message", "gone", "grpc-status-details-bin", "CAU"];
    const names = ["grpc-status", "grpc-message", "grpc-status-details-bin", "x-debug"];
    const trailers = [...status, "x-debug", "1"];
    expect(relayedResponseTrailers(trailers, names, { ...plain, grpc: true })).to.deep.equal(status);
    expect(relayedResponseTrailers(trailers, names, plain)).to.equal(undefined);
  });

  it("digests in the trailers of a response whose body was transformed are dropped", () => {
    const trailers = ["Content-Digest", "sha-256=:x:", "Repr-Digest", "sha-256=:x:", "Server-Timing", "a"];
    expect(relayedResponseTrailers(trailers, [], plain)).to.deep.equal(trailers);
    const transformed = { ...plain, transformed: true };
    expect(relayedResponseTrailers(trailers, [], transformed)).to.deep.equal(["Server-Timing", "a"]);
  });
});
