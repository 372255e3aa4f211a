import { expect } from "chai";
import { formatEndpoint, parseEndpoint } from "../../src/values/endpoint.ts";

describe("parseEndpoint", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["controller.svc", "controller.svc:50051"],
    ["Controller.svc:9", "controller.svc:9"],
    ["192.0.2.1", "192.0.2.1:50051"],
    ["192.0.2.1:9", "192.0.2.1:9"],
    ["[2001:db8::1]:9", "[2001:db8::1]:9"],
    ["[::1]", "[::1]:50051"],
    ["::1", "[::1]:50051"],
  ];
  for (const [text, written] of cases) {
    it(`parseEndpoint reads "${text}" as ${written}`, () => {
      const parsed = parseEndpoint(text, 50051);
      expect(parsed.ok && formatEndpoint(parsed.value)).to.equal(written);
    });
  }
  for (const text of [
    "",
    ":80",
    "a:0",
    "a:65536",
    "a:b",
    "[::1",
    "::1]",
    "[a]:1",
    "a b",
    "http://a",
    "a:1:2x",
    "999.1.1.1",
  ]) {
    it(`parseEndpoint rejects "${text}"`, () => expect(parseEndpoint(text, 50051).ok).to.equal(false));
  }
});
