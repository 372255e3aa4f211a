import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { installedImage, deployEcho } from "../support/echo.ts";
import { addressOfProxies } from "../support/address.ts";
import { ask } from "../support/api.ts";
import { send } from "../support/client.ts";
import { gatewayAt, isTrue, programmedAddress } from "../support/gateways.ts";
import { gateway, httpRoute, needGatewayApi } from "../support/gateway-api.ts";
import { ingress } from "../support/ingress.ts";
import { poll } from "../support/poll.ts";
import { helm, provider, root } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";

type AuditEvent = {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly requestURI: string;
  readonly annotations?: { readonly "authorization.k8s.io/decision"?: "allow" | "forbid" };
};

/** A second installation next to that of the other tests. Its service accounts have Roles in two namespaces only. */
describe("a namespaced installation", () => {
  const home = useSandbox("namespaced-home");
  const shop = useSandbox("namespaced-shop");
  const release = "namespaced";
  const host = `${shop.namespace}.example`;
  const className = `class-${shop.namespace}`;
  const path = `/apis/networking.k8s.io/v1/namespaces/${shop.namespace}/ingresses/echo`;

  before(async function () {
    this.timeout(300_000);
    await deployEcho(shop, { replicas: 1 });
    const [repository = "", tag = ""] = (await installedImage()).split(/:(?=[^:/]+$)/);
    const values = {
      image: { repository, tag },
      rbac: { namespaced: true },
      controller: { replicas: 1, flags: { "watch-namespace": shop.namespace } },
      sharedProxy: { replicas: 1 },
      ingressClass: { enabled: false, name: className },
      gatewayClass: { enabled: false, name: className },
      crds: { enabled: false },
      vap: { enabled: false },
    };
    const given = Object.entries(values).flatMap(([name, value]) => [
      "--set-json",
      `${name}=${JSON.stringify(value)}`,
    ]);
    await helm(
      [
        ...["install", release, join(root, "config/chart"), "--namespace", home.namespace],
        ...["--wait", "--timeout", "180s", ...given],
      ],
      { timeoutMs: 240_000 },
    );
    await shop.apply(ingress({ name: "echo", host, className, paths: [{ service: "echo" }] }));
  });
  after(() => helm(["uninstall", release, "--namespace", home.namespace, "--wait=false"]));

  it("an Ingress is served, and its status written, without a ClusterRole", async () => {
    const rolePath = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const { items } = await ask<{ items: readonly { metadata: { name: string } }[] }>(rolePath);
    expect(items.filter(({ metadata }) => metadata.name.includes(home.namespace))).to.deep.equal([]);
    const address = await addressOfProxies(home.namespace);
    await poll(
      "the Ingress to be served",
      async () => (await send({ host, address }).catch(() => undefined))?.status === 200,
    );
    await poll("the status of the Ingress", async () => {
      const { status } = await ask<{ status?: { loadBalancer?: { ingress?: readonly object[] } } }>(path);
      return (status?.loadBalancer?.ingress ?? []).length > 0;
    });
  });

  it("a Gateway of the named class is programmed, and its route is served", async function () {
    await needGatewayApi(this);
    await shop.apply(
      gateway("namespaced", { gatewayClassName: className }),
      httpRoute("namespaced", "namespaced", { hostnames: [host] }),
    );
    const address = await programmedAddress(shop.namespace, "namespaced");
    await poll(
      "the route to be served",
      async () => (await send({ host, gateway: address }).catch(() => undefined))?.status === 200,
    );
    const { status } = await gatewayAt(shop.namespace, "namespaced");
    expect(isTrue(status?.conditions, "Accepted")).to.equal(true);
  });

  it("no request of its controllers was refused for want of rights", async function () {
    const file = await provider("audit-log");
    // kind has no audit log.
    if (!existsSync(file)) return this.skip();
    const user = `system:serviceaccount:${home.namespace}:`;
    const events = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes(user))
      .map((line) => JSON.parse(line) as AuditEvent)
      .filter((event) => event.user.username.startsWith(user));
    const requestsWith = (decision: "allow" | "forbid"): ReadonlySet<string> =>
      new Set(
        events
          .filter(({ annotations }) => annotations?.["authorization.k8s.io/decision"] === decision)
          .map(({ verb, requestURI }) => `${verb} ${requestURI.split("?")[0]}`),
      );
    // The authorizer applies a new role a moment after its creation.
    const allowed = requestsWith("allow");
    expect([...requestsWith("forbid")].filter((request) => !allowed.has(request))).to.deep.equal([]);
    expect(allowed.size).to.be.above(0);
  });
});
