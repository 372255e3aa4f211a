import { expect } from "chai";
import { baseTemplateOf } from "../../../../src/translate/gateway/dedicated/overlay.ts";
import { podTemplateOf } from "../../../../src/translate/gateway/dedicated/pod.ts";
import { buildOf, dedicatedGatewayYaml, dedicatedSettings } from "../../../reconcilers/gateway/support.ts";

const parameters = {
  replicas: 1,
  resources: undefined,
  image: undefined,
  serviceType: "ClusterIP" as const,
  overlays: [],
  autoscaling: undefined,
};

describe("the pod template of the flag --dedicated-pod-template", () => {
  it("the template of the flag is merged into the rendered one, and templates of parameters over it", () => {
    const { world } = buildOf(dedicatedGatewayYaml, { dedicated: dedicatedSettings });
    const [gateway] = world.Gateway;
    if (gateway === undefined) throw new Error("the manifests have no Gateway");
    const env = (name: string, value: string): object => ({ name, value });
    const container = (...variables: readonly object[]): object => ({
      containers: [{ name: "proxy", env: variables }],
    });
    const settings = {
      ...dedicatedSettings,
      podTemplate: {
        metadata: { labels: { team: "edge" } },
        spec: {
          ...container(env("SVC_LOG", "info"), env("SVC_LOG_FORMAT", "console")),
          imagePullSecrets: [{ name: "registry" }],
          priorityClassName: "edge",
        },
      },
    };
    const overlays = [
      {
        template: { spec: { ...container(env("SVC_LOG", "debug")), priorityClassName: "low" } },
        ignored: [],
      },
    ];
    const template = podTemplateOf(
      { gateway, serviceAccount: "a", parameters: { ...parameters, overlays }, image: "i" },
      settings,
    );
    const spec = template["spec"] as Readonly<Record<string, unknown>>;
    expect(spec["priorityClassName"]).to.equal("low");
    expect(spec["imagePullSecrets"]).to.deep.equal([{ name: "registry" }]);
    expect((template["metadata"] as { labels: object }).labels).to.include({ team: "edge" });
    const [proxy] = spec["containers"] as readonly { name: string; image: string; env: readonly object[] }[];
    expect(proxy?.image).to.equal("i");
    expect(proxy?.env).to.deep.include.members([env("SVC_LOG", "debug"), env("SVC_LOG_FORMAT", "console")]);
    expect(proxy?.env).to.not.deep.include(env("SVC_LOG", "info"));
  });

  it("the template is empty without the flag", () => {
    expect(baseTemplateOf(undefined)).to.deep.equal({ ok: true, value: {} });
  });

  it("the ids of the pod are those of the flag, and an id that is null is left to the cluster", () => {
    const { world } = buildOf(dedicatedGatewayYaml, { dedicated: dedicatedSettings });
    const [gateway] = world.Gateway;
    if (gateway === undefined) throw new Error("the manifests have no Gateway");
    const read = baseTemplateOf({
      spec: { securityContext: { runAsUser: null, runAsGroup: 0, fsGroup: 1_000_660_000 } },
    });
    if (!read.ok) throw new Error(read.error);
    const settings = { ...dedicatedSettings, podTemplate: read.value };
    const template = podTemplateOf({ gateway, serviceAccount: "a", parameters, image: "i" }, settings);
    const { securityContext } = template["spec"] as { securityContext: object };
    expect(securityContext).to.deep.equal({
      runAsNonRoot: true,
      runAsGroup: 0,
      fsGroup: 1_000_660_000,
      seccompProfile: { type: "RuntimeDefault" },
      sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }],
    });
  });

  const refused: readonly (readonly [context: unknown, error: string])[] = [
    [{ runAsUser: 0 }, ".runAsUser is 0, expected a number from 1 to 2147483647 or null"],
    [{ fsGroup: "7" }, '.fsGroup is "7", expected a number from 0 to 2147483647 or null'],
    [
      { runAsNonRoot: false },
      ".runAsNonRoot cannot be set for dedicated proxies, expected runAsUser, runAsGroup or fsGroup",
    ],
    [[], " must be an object"],
  ];
  for (const [securityContext, error] of refused)
    it(`the security context ${JSON.stringify(securityContext)} is an error`, () =>
      expect(baseTemplateOf({ spec: { securityContext } })).to.deep.equal({
        ok: false,
        error: `spec.securityContext${error}`,
      }));

  it("a template that would weaken the pod, or that is none, is an error that names the field", () => {
    expect(baseTemplateOf({ spec: { hostNetwork: true } })).to.deep.equal({
      ok: false,
      error: "spec.hostNetwork cannot be set for dedicated proxies, expected other fields",
    });
    expect(baseTemplateOf({ spec: { containers: "proxy" } })).to.deep.equal({
      ok: false,
      error: "podTemplate.spec.containers must be a list",
    });
  });
});
