import { expect } from "chai";
import { formatProxyRule, parseProxyRule } from "../../src/settings/proxy-rule.ts";
import { errorOf } from "./readers.ts";
import { readStandaloneSettings } from "../../src/settings/settings.ts";

describe("the rules of --proxy", () => {
  const good: Readonly<Record<string, string>> = {
    "app.local=localhost:3000": "app.local=http://localhost:3000",
    "APP.local/api=https://web:3443/": "app.local/api=https://web:3443",
    "*.app.local=127.0.0.1": "*.app.local=http://127.0.0.1:80",
    "a.local=[::1]:9000": "a.local=http://[::1]:9000",
  };
  for (const [text, written] of Object.entries(good)) {
    it(`the rule ${text} is read`, () => {
      const rule = parseProxyRule(text);
      expect(rule.ok && formatProxyRule(rule.value)).to.equal(written);
    });
  }

  for (const text of [
    "app.local",
    "=localhost:1",
    "a.local=",
    "a local=x:1",
    "a.local=x:0",
    "a.local=x/path",
    "a.local=https://10.0.0.1",
    "*=x:1",
    "a.local/ü=x:1",
  ]) {
    it(`the rule ${JSON.stringify(text)} is rejected`, () => {
      expect(parseProxyRule(text).ok).to.equal(false);
    });
  }

  it("--proxy may be repeated, and its variable holds several rules", () => {
    const hosts = (argv: readonly string[], env = {}): readonly string[] => {
      const read = readStandaloneSettings({ argv, env });
      return read.ok ? read.value.settings.proxy.map(({ host }) => host) : [read.error.message];
    };
    expect(hosts(["--proxy", "a.local=x:1", "--proxy=b.local=y:2"])).to.deep.equal(["a.local", "b.local"]);
    expect(hosts([], { SVC_PROXY: "a.local=x:1,b.local=y:2" })).to.deep.equal(["a.local", "b.local"]);
  });

  it("the flags of --proxy are rejected without it, and beside a folder", () => {
    expect(errorOf("standalone", ["--proxy", "a.local=x:1"])).to.equal(
      "--proxy: cannot be combined with --manifests",
    );
    expect(errorOf("standalone", ["--print-manifests"])).to.equal("--print-manifests: requires --proxy");
    expect(errorOf("standalone", ["--cert", "a"])).to.equal(
      "--cert, --key: a certificate and its key are given together",
    );
  });
});
