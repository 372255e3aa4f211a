import { expect } from "chai";
import { send, type Reply } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("the parameters of a class", () => {
  const sandbox = useSandbox("class-parameters");
  const className = sandbox.namespace;
  const host = "class-parameters.e2e.example";
  const ownHost = "own.class-parameters.e2e.example";
  const prefix = "ingress.svc-labs.dev/";
  const parameters = (defaults: Readonly<Record<string, string>>): object => ({
    apiVersion: "ingress.svc-labs.dev/v1alpha1",
    kind: "SvcIngressClassParameters",
    metadata: { name: "defaults" },
    spec: {
      defaultAnnotations: Object.fromEntries(
        Object.entries(defaults).map(([name, value]) => [`${prefix}${name}`, value]),
      ),
    },
  });
  const post = (to: string, bytes: number): Promise<Reply> =>
    send({ host: to, method: "POST", body: Buffer.alloc(bytes, "x") });

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(parameters({ "max-body-size": "10", "response-header-set": "X-Class: default" }), {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: className },
      spec: {
        controller: "svc-labs.dev/gateway-controller",
        parameters: {
          apiGroup: "ingress.svc-labs.dev",
          kind: "SvcIngressClassParameters",
          name: "defaults",
          namespace: sandbox.namespace,
          scope: "Namespace",
        },
      },
    });
    const paths = [{ service: "echo" }];
    await sandbox.apply(
      ingress({ name: "plain", host, className, paths }),
      ingress({ name: "own", host: ownHost, className, annotations: { "max-body-size": "20" }, paths }),
    );
    for (const served of [host, ownHost]) {
      await until(`${served} to be served`, async () => (await send({ host: served })).status === 200);
    }
  });

  after(() => sandbox.delete("ingressclass", className));

  it("the parameters of a class apply to an Ingress without annotations", async () => {
    expect((await post(host, 10)).status).to.equal(200);
    expect((await post(host, 11)).status).to.equal(413);
    expect((await send({ host })).headers["x-class"]).to.equal("default");
  });

  it("an annotation of an Ingress overrides the parameter of its class", async () => {
    expect((await post(ownHost, 20)).status).to.equal(200);
    expect((await post(ownHost, 21)).status).to.equal(413);
    expect((await send({ host: ownHost })).headers["x-class"]).to.equal("default");
  });

  it("an invalid parameter of a class is ignored, and changed parameters apply", async () => {
    await sandbox.apply(parameters({ "max-body-size": "much", "response-header-set": "X-Class: changed" }));
    await until(
      "the changed parameters",
      async () => (await send({ host })).headers["x-class"] === "changed",
    );
    expect((await post(host, 11)).status).to.equal(200);
    expect((await post(ownHost, 21)).status).to.equal(413);
  });
});
