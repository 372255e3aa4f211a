import { expect } from "chai";
import fc from "fast-check";
import {
  formatNamespacedName,
  formatServicePort,
  parseNamespacedName,
  parseServicePort,
} from "../../src/values/namespaced-name.ts";

const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);

describe("parseNamespacedName", () => {
  it("parseNamespacedName reads namespace and name", () => {
    expect(parseNamespacedName(" shop/web.v1 ")).to.deep.equal({
      ok: true,
      value: { namespace: "shop", name: "web.v1" },
    });
  });
  for (const text of [
    "",
    "web",
    "/web",
    "shop/",
    "shop/web/x",
    "Shop/web",
    "shop/Web",
    "sh.op/web",
    "shop/-web",
    "shop/we_b",
    `shop/${"a".repeat(254)}`,
    `${"a".repeat(64)}/web`,
  ]) {
    it(`parseNamespacedName rejects "${text.slice(0, 30)}"`, () =>
      expect(parseNamespacedName(text).ok).to.equal(false));
  }
  it("parseNamespacedName reads back what formatNamespacedName writes", () => {
    fc.assert(
      fc.property(name, name, (namespace, object) => {
        const value = { namespace, name: object };
        expect(parseNamespacedName(formatNamespacedName(value))).to.deep.equal({ ok: true, value });
      }),
    );
  });
});

describe("parseServicePort", () => {
  it("parseServicePort reads a port number and a port name", () => {
    expect(parseServicePort("shop/web:80")).to.deep.equal({
      ok: true,
      value: { namespace: "shop", name: "web", port: { number: 80 } },
    });
    expect(parseServicePort("shop/web:http-alt")).to.deep.equal({
      ok: true,
      value: { namespace: "shop", name: "web", port: { name: "http-alt" } },
    });
  });
  for (const text of [
    "",
    "shop/web",
    "shop/web:",
    "shop/web:0",
    "shop/web:65536",
    "shop/web:a--b",
    "shop/web:-a",
    "shop/web:abcdefghijklmnop",
    "web:80",
    "shop/web:80:80",
  ]) {
    it(`parseServicePort rejects "${text}"`, () => expect(parseServicePort(text).ok).to.equal(false));
  }
  it("formatServicePort writes what parseServicePort has read", () => {
    for (const text of ["shop/web:80", "shop/web:http"]) {
      const parsed = parseServicePort(text);
      expect(parsed.ok && formatServicePort(parsed.value)).to.equal(text);
    }
  });
});
