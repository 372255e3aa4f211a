import { expect } from "chai";
import type { KubeObject } from "../../../src/api/object.ts";
import { defaultTranslateSettings, type TranslateSettings } from "../../../src/translate/settings.ts";
import { translate } from "../../../src/translate/translate.ts";
import type { Translation } from "../../../src/translate/translation.ts";
import { createWorld, type World } from "../../../src/world.ts";

const ingressClass = (name: string, controller: string): KubeObject =>
  ({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name },
    spec: { controller },
  }) as KubeObject;

const world = createWorld([
  ingressClass("nginx", "k8s.io/ingress-nginx"),
  ingressClass("ours", defaultTranslateSettings.controllerName),
  ingressClass("other", "k8s.io/ingress-nginx"),
]);
const running = ["edge/ingress-nginx-leader"];

const settingsWith = (
  classes: readonly string[],
  updateStatus = false,
  given: Partial<TranslateSettings> = {},
): TranslateSettings => ({
  ...defaultTranslateSettings,
  ingressNginx: { ...defaultTranslateSettings.ingressNginx, classes, updateStatus },
  ...given,
});

function findingsOf({ diagnostics }: Translation): readonly string[] {
  return diagnostics
    .filter(({ reason }) => reason === "ForeignController")
    .map(({ object, severity }) => `${severity} ${object.kind} ${object.name}`);
}
const messageOf = (of: World, settings: TranslateSettings, leases: readonly string[]): string | undefined =>
  translate(of, settings, { ingressNginxLeases: leases }).diagnostics.find(
    ({ reason }) => reason === "ForeignController",
  )?.message;

describe("an ingress-nginx that runs beside this gateway", () => {
  it("each class that it serves as well has a finding, but none of this gateway's own controller", () => {
    const settings = settingsWith(["nginx", "ours", "without-object", "nginx"]);
    expect(findingsOf(translate(world, settings, { ingressNginxLeases: running }))).to.deep.equal([
      "warning IngressClass nginx",
      "warning IngressClass without-object",
    ]);
  });

  it("there is no finding without a renewed Lease, without adopted classes, and with Ingresses disabled", () => {
    const leases = { ingressNginxLeases: running };
    expect(findingsOf(translate(world, settingsWith(["nginx"])))).to.deep.equal([]);
    expect(findingsOf(translate(world, settingsWith([]), leases))).to.deep.equal([]);
    const disabled = settingsWith(["nginx"], false, { ingressEnabled: false });
    expect(findingsOf(translate(world, disabled, leases))).to.deep.equal([]);
  });

  it("the IngressClass has an Event, the same value while nothing changes", () => {
    const settings = settingsWith(["nginx"]);
    const eventIn = (leases: readonly string[]): Translation["events"] =>
      translate(world, settings, { ingressNginxLeases: leases }).events;
    const first = eventIn(running);
    expect(first).to.deep.equal([
      {
        object: { kind: "IngressClass", name: "nginx" },
        type: "Warning",
        reason: "ForeignController",
        message: messageOf(world, settings, running),
      },
    ]);
    expect(eventIn(running)[0]).to.equal(first[0]);
    expect(eventIn([])).to.deep.equal([]);
  });

  it("the message names the Lease, and says who writes the status", () => {
    const left = messageOf(world, settingsWith(["nginx"]), running);
    expect(left).to.include("edge/ingress-nginx-leader").and.to.include("is left to it");
    expect(messageOf(world, settingsWith(["nginx"], true), running)).to.include("both write their status");
  });

  it("of many Leases five are named, and the others are counted", () => {
    const many = Array.from({ length: 12 }, (_, index) => `ns-${index}/ingress-nginx-leader`);
    const message = messageOf(world, settingsWith(["nginx"]), many);
    expect(message).to.include("ns-4/ingress-nginx-leader and 7 more").and.not.to.include("ns-5/");
  });
});
