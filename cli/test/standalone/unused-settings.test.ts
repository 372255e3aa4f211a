import { expect } from "chai";
import { readStandaloneSettings, type StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { describeUnusedSettings } from "../../src/standalone/unused-settings.ts";

const read = (...argv: readonly string[]): StandaloneSettings => {
  const result = readStandaloneSettings({ argv: ["--manifests", ".", ...argv], env: {} });
  if (!result.ok) throw new Error(result.error.message);
  return result.value.settings;
};

describe("describeIdleSettings", () => {
  it("flags with default values and flags that have an effect are not reported", () => {
    expect(describeUnusedSettings(read("--ingress-class", "svc", "--proxy-workers", "4"))).to.deep.equal([]);
  });

  it("flags without effect are reported", () => {
    const settings = read("--proxy-default-backend-request-timeout", "45s", "--status-address", "192.0.2.1");
    expect(describeUnusedSettings(settings)).to.deep.equal([
      "--status-address: has no effect in this release",
    ]);
  });
});
