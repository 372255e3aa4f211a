import { expect } from "chai";
import { relayedTrailers, withoutUnsafeTrailers } from "../../src/http/trailers.ts";

describe("withoutUnsafeTrailers", () => {
  it("drops what frames, routes or authenticates, in any spelling", () => {
    const hostile = [
      "Host",
      "X_Forwarded_For",
      "x-real_ip",
      "Proxy-Foo",
      "proxy_authorization",
      "Content_Length",
    ];
    expect(withoutUnsafeTrailers(hostile.flatMap((name) => [name, "1"]))).to.equal(undefined);
  });

  it("keeps the others in order and as spelled", () => {
    const trailers = ["X-Sum", "1", "Host", "a", "grpc-status", "0"];
    expect(withoutUnsafeTrailers(trailers)).to.deep.equal(["X-Sum", "1", "grpc-status", "0"]);
  });
});

describe("relayedTrailers", () => {
  it("drops what repeats a field of the head", () => {
    expect(relayedTrailers(["X-A", "1", "x_b", "2"], ["x-a", "0", "X-B", "0"], [])).to.equal(undefined);
  });

  it("drops what the route decides about, and keeps the rest", () => {
    const trailers = ["X_User", "admin", "X-Sum", "1"];
    expect(relayedTrailers(trailers, ["Accept", "*/*"], ["x-user"])).to.deep.equal(["X-Sum", "1"]);
  });
});
