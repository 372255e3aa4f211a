import { expect } from "chai";
import { joinFeatures } from "../../../src/translate/ingress-nginx/join-features.ts";

const field = (name: string) => ({ name, value: "1" });

describe("joining features", () => {
  it("joined features hold those of both sides, and the later value of a property that both have", () => {
    expect(joinFeatures(undefined, undefined)).to.equal(undefined);
    expect(
      joinFeatures(
        { "max-body-size": { early: true, maxBytes: 1 }, timeouts: { readTimeoutMs: 1 } },
        { "max-body-size": { maxBytes: 2 }, "ip-access-control": { deny: [] } },
      ),
    ).to.deep.equal({
      "ip-access-control": { deny: [] },
      "max-body-size": { early: true, maxBytes: 2 },
      timeouts: { readTimeoutMs: 1 },
    });
  });

  it("joined features have the headers of both sides", () => {
    expect(
      joinFeatures(
        { "response-headers": { remove: ["X-A"], set: [field("X-B")] } },
        { "response-headers": { remove: ["X-C"], set: [field("X-D")] } },
      ),
    ).to.deep.equal({
      "response-headers": { remove: ["X-A", "X-C"], set: [field("X-B"), field("X-D")] },
    });
  });

  it("a header that the earlier side removes and the later one sets is set", () => {
    expect(
      joinFeatures(
        { "response-headers": { remove: ["Server"] } },
        { "response-headers": { set: [field("server")] } },
      ),
    ).to.deep.equal({ "response-headers": { set: [field("server")] } });
    expect(
      joinFeatures(
        { "response-headers": { remove: ["Server", "Via"] } },
        { "response-headers": { add: [field("Server")] } },
      ),
    ).to.deep.equal({ "response-headers": { add: [field("Server")], remove: ["Via"] } });
  });
});
