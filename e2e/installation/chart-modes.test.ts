import { join } from "node:path";
import { expect } from "chai";
import { namespace, release } from "../deploy/release.ts";
import { ask } from "../support/api.ts";
import { send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { withForwarded } from "../support/forwarded.ts";
import { leaderName, nameOf, podsOf, waitUntilWhole } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { helm, kubectl, root } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";

type Autoscaler = {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};
type Pod = {
  readonly spec: {
    readonly containers: readonly { readonly ports: readonly { readonly hostPort?: number }[] }[];
  };
};

const signIn = (url: string, token: string): Promise<Response> =>
  fetch(`${url}/sign-in`, {
    method: "POST",
    headers: { origin: url, "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ token }),
    redirect: "manual",
  });

/** Whether the console of a controller shows these proxies as in sync to a user with this token. */
const showsProxies = async (
  controller: string,
  token: string,
  proxies: readonly string[],
): Promise<boolean> =>
  withForwarded(controller, 8083, async (url) => {
    const [cookie = ""] = (await signIn(url, token)).headers.getSetCookie();
    const page = await fetch(`${url}/proxies`, { headers: { cookie: cookie.split(";", 1)[0] ?? "" } });
    const text = await page.text();
    const inSync = text.split("in sync").length - 1;
    return page.status === 200 && proxies.every((name) => text.includes(name)) && inSync >= proxies.length;
  });

/** Installs the chart in the ways that change which components run, and finally restores the first one. */
describe("the modes of the Helm chart", () => {
  const sandbox = useSandbox("chart-modes");
  const host = `${sandbox.namespace}.example`;
  const settings = ["--namespace", namespace, "--wait", "--timeout", "180s"];
  const hostPort = 18_080;
  let first = "";

  const upgrade = (...values: readonly string[]): Promise<string> =>
    helm(
      [
        ...["upgrade", release, join(root, "config/chart"), "--reset-then-reuse-values", ...settings],
        ...values.flatMap((value) => ["--set-json", value]),
      ],
      { timeoutMs: 240_000 },
    );

  before(async function () {
    this.timeout(300_000);
    await waitUntilWhole();
    const text = await helm(["history", release, "--namespace", namespace, "--max", "1", "--output", "json"]);
    first = String((JSON.parse(text) as readonly { readonly revision: number }[])[0]?.revision);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(ingress({ name: "echo", host, paths: [{ service: "echo" }] }));
  });
  after(async function () {
    this.timeout(300_000);
    if (first !== "") await helm(["rollback", release, first, ...settings], { timeoutMs: 240_000 });
    await waitUntilWhole();
  });

  it("the autoscaler of the chart finds the Deployment of the shared proxies, and keeps its pods", async function () {
    this.timeout(300_000);
    await upgrade('sharedProxy.autoscaling={"enabled":true,"minReplicas":2,"maxReplicas":3}');
    const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers/svc-shared-proxy`;
    await poll("the autoscaler to have read the scale of its target", async () => {
      const { status } = await ask<Autoscaler>(path);
      return status?.conditions?.some((one) => one.type === "AbleToScale" && one.status === "True") === true;
    });
    // Until the autoscaler acts, the Deployment has one replica, the default of the API server.
    const hasTwoPods = async (): Promise<boolean> => (await podsOf("shared-proxy")).length === 2;
    await poll("the autoscaler to have its least number of pods", hasTwoPods);
    await upgrade("sharedProxy.autoscaling.enabled=false");
  });

  it("the console of the chart lets in accounts that its ClusterRole is bound to, and shows the proxies on the leader", async function () {
    this.timeout(300_000);
    await upgrade("console.enabled=true", "adminAuth.controllers=true");
    for (const account of ["reader", "other"])
      await kubectl(["create", "serviceaccount", account, "--namespace", sandbox.namespace]);
    const binding = `${sandbox.namespace}-console`;
    const reader = `${sandbox.namespace}:reader`;
    const role = `${namespace}-svc-admin-reader`;
    await kubectl([
      ...["create", "clusterrolebinding", binding],
      ...["--clusterrole", role, "--serviceaccount", reader],
    ]);
    try {
      const tokenOf = async (account: string): Promise<string> =>
        (await kubectl(["create", "token", account, "--namespace", sandbox.namespace])).trim();
      const proxies = (await podsOf("shared-proxy")).map(nameOf);
      await poll("a leader with all proxies", async () => {
        const leader = await leaderName();
        return leader !== undefined && (await showsProxies(leader, await tokenOf("reader"), proxies));
      });
      const leader = (await leaderName()) ?? "";
      await withForwarded(leader, 8083, async (url) => {
        expect((await fetch(url)).status).to.equal(401);
        expect((await signIn(url, await tokenOf("other"))).status).to.equal(403);
      });
    } finally {
      await kubectl(["delete", "clusterrolebinding", binding]);
      await upgrade("console.enabled=false", "adminAuth.controllers=false");
    }
  });

  it("a DaemonSet of the chart serves requests on the host ports of its nodes", async function () {
    this.timeout(300_000);
    await upgrade(
      'sharedProxy.kind="DaemonSet"',
      `sharedProxy.hostPorts={"enabled":true,"http":${hostPort},"https":0}`,
    );
    const pods = (await podsOf("shared-proxy")) as unknown as readonly Pod[];
    expect(
      pods.flatMap(({ spec }) => spec.containers.flatMap(({ ports }) => ports.map((one) => one.hostPort))),
    ).to.include(hostPort);
    const node = await kubectl([
      ...["get", "nodes", "--output"],
      'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}',
    ]);
    await poll("the host port to serve the Ingress", async () => {
      const reply = await send({ host, address: { host: node, http: hostPort, https: 0 } });
      return reply.status === 200;
    });
  });
});
